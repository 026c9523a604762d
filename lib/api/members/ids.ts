/** User ids without duplicates. Text that is not a number becomes 0, which no user has. */
export function userIds(texts: readonly string[]): number[] {
  const ids = new Set(texts.map((text) => text.trim()));
  return [...ids].map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
}
