/** Waits for the next window of a limit if this one ends soon: tries are counted anew from then on. */
export async function freshWindow(seconds = 60): Promise<void> {
  const left = seconds * 1000 - (Date.now() % (seconds * 1000));
  if (left < 5_000) await new Promise((resolve) => setTimeout(resolve, left));
}
