/** Marks a promise that is awaited later as handled, so that its rejection is reported only where it is awaited. */
export function started<T>(read: Promise<T>): Promise<T> {
  read.catch(() => {});
  return read;
}
