/** At most `width` at a time. */
export async function mapLimit<T>(
  width: number,
  inputs: readonly T[],
  run: (input: T) => Promise<void>,
): Promise<void> {
  const rest = [...inputs];
  const workers = Array.from({ length: Math.min(width, rest.length) }, async () => {
    for (let input = rest.shift(); input !== undefined; input = rest.shift()) await run(input);
  });
  await Promise.all(workers);
}
