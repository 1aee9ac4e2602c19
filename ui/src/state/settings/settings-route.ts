/** The sections of the settings, and the routes to them. */
export const settingsSections = [
  'vault',
  'private',
  'history',
  'answering',
  'spending',
  'hub',
  'general',
] as const;

export type SettingsSection = (typeof settingsSections)[number];

/** A part of the settings, or one field of it. */
export interface SettingsTarget {
  readonly section: SettingsSection;
  readonly field?: 'model' | 'organisation' | 'description';
}

/** Where a way into the settings led: to a section, or to the list of them. */
export interface SettingsRoute extends Pick<SettingsTarget, 'field'> {
  readonly section: SettingsSection | null;
}
