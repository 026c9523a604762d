/** Records by their ids, without those that are absent. */
export const byId = <R extends { readonly id: number }>(
  records: readonly (R | undefined)[],
): Map<number, R> =>
  new Map(records.flatMap((record) => (record === undefined ? [] : [[record.id, record] as const])));
