/** Emoji by the names that may be written between colons, as `thumbsup` in `:thumbsup:`. */
import names from 'markdown-it-emoji/lib/data/full.mjs';

const EMOJI: ReadonlyMap<string, string> = new Map(Object.entries(names));

/** Replaces the names of emoji between colons; other texts between colons stay. */
export const withEmoji = (text: string): string =>
  text.replace(/:([\w+-]{1,60}):/g, (written, name: string) => EMOJI.get(name) ?? written);
