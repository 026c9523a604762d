/** Runs a function for every input, at most `width` at a time. */
export async function mapLimit<T>(
  width: number,
  inputs: readonly T[],
  run: (input: T) => Promise<void>,
): Promise<void> {
  const queue = [...inputs];
  const workers = Array.from({ length: Math.min(width, queue.length) }, async () => {
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) await run(input);
  });
  await Promise.all(workers);
}
