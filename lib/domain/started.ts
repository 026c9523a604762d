/** A read under way whose failure is told where it is awaited, and nowhere else. */
export function started<T>(read: Promise<T>): Promise<T> {
  read.catch(() => {});
  return read;
}
