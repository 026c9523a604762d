/** CPU time of this process in milliseconds: unlike the time of day, it does not grow while others have the processor. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
