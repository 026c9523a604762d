/** Runs `work` this many times. @returns the median in milliseconds; of an even number, the lower one */
export async function median(runs: number, work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < runs; i++) {
    const begun = performance.now();
    await work();
    times.push(performance.now() - begun);
  }
  return middle(times);
}

/** Runs both alternately, so that load on the machine affects both. The first run of each is a warm-up. */
export async function medians(
  runs: number,
  ours: () => unknown,
  git: () => unknown,
): Promise<{ ours: number; git: number }> {
  await ours();
  await git();
  const times: [number[], number[]] = [[], []];
  for (let i = 0; i < runs; i++) {
    times[0].push(await median(1, ours));
    times[1].push(await median(1, git));
  }
  return { ours: middle(times[0]), git: middle(times[1]) };
}

const middle = (times: number[]) => times.sort((a, b) => a - b)[(times.length - 1) >> 1]!;
