/** Sentences of the application where the window shows no settings yet. */
import { m } from '../../messages/messages';

/**
 * A translated sentence without the words that send the user to the settings, which the first run does not show: “Check
 * the key in Settings.” becomes “Check the key.”
 */
export function withoutSettings(sentence: string): string {
  return sentence.replaceAll(` ${m.first_settings_place()}`, '');
}
