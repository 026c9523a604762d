/** Names of issues in trackers elsewhere, as texts have them: `PROJ-12`, `task 12`. */

const NAME =
  /(?<![A-Za-z0-9_./#!$&@+%~-])(?:[A-Z][A-Za-z0-9_]{1,49}-\d{1,18}|(?:bug|task|work item|workitem|rtcwi|defect) \d{1,18})(?![A-Za-z0-9_/#!$&@%~]|[-.][A-Za-z0-9])/g;

/** Names that are looked at. */
const MAX_SEEN = 1_000;

export interface ExternalName {
  readonly source: string;
  readonly index: number;
}

/** The names in a text that contains no code, in order. Takes time linear in its length. */
export function externalNames(text: string): ExternalName[] {
  const found: ExternalName[] = [];
  for (const { 0: source, index } of text.matchAll(NAME)) {
    found.push({ source, index });
    if (found.length === MAX_SEEN) break;
  }
  return found;
}
