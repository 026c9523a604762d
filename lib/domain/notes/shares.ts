/** How many of each are shown where all together are too many: the longest are cut to the same length. */
export function sharesOf(room: number, counts: readonly number[]): number[] {
  const shares = [...counts];
  const shortestFirst = counts.map((count, i) => ({ count, i })).sort((a, b) => a.count - b.count);
  let left = room;
  for (const [n, { count, i }] of shortestFirst.entries()) {
    const share = Math.min(count, Math.floor(left / (counts.length - n)));
    shares[i] = share;
    left -= share;
  }
  return shares;
}
