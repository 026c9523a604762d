/** Waits for the next minute if this one ends soon: limits by the minute count anew from then on. */
export async function freshMinute(): Promise<void> {
  const left = 60_000 - (Date.now() % 60_000);
  if (left < 5_000) await new Promise((resolve) => setTimeout(resolve, left));
}
