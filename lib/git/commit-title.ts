/** Characters of a title; longer ones are cut. */
const MAX_TITLE = 4096;

/** The first line of a message, or where it begins with blank lines the first that is not. */
export function titleOf(message: string): string {
  const text = message.trimStart().slice(0, MAX_TITLE);
  return text.split('\n', 1)[0]!.trimEnd().toWellFormed();
}
