/** The first line of a message, or where it begins with blank lines the first that is not. */
export function titleOf(message: string): string {
  return message.trimStart().split('\n', 1)[0]!.trimEnd();
}
