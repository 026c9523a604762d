/**
 * Waits for the next window of a limit if this one ends soon: tries are counted anew from then on.
 * @param least so many seconds are left then, or more
 */
export async function freshWindow(seconds = 60, least = 10): Promise<void> {
  const left = () => seconds * 1000 - (Date.now() % (seconds * 1000));
  // A timer may end a little early.
  while (left() < least * 1000) await new Promise((resolve) => setTimeout(resolve, left()));
}
