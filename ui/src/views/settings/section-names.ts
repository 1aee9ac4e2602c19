/** The names of the settings sections. */
import { m } from '../../messages/messages';
import type { SettingsSection } from '../../state/settings/settings-route';

const names: Readonly<Record<SettingsSection, () => string>> = {
  vault: () => m.settings_vault(),
  private: () => m.settings_private(),
  history: () => m.settings_history(),
  answering: () => m.settings_answering(),
  spending: () => m.settings_spending(),
  hub: () => m.settings_hub(),
  general: () => m.settings_general(),
};

export function sectionName(section: SettingsSection): string {
  return names[section]();
}
