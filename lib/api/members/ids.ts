/** Each once. Ids that are no numbers name nobody. */
export function userIds(texts: readonly string[]): number[] {
  const ids = new Set(texts.map((text) => text.trim()));
  return [...ids].map((id) => (/^\d{1,15}$/.test(id) ? Number(id) : 0));
}
