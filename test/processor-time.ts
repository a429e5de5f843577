/** Milliseconds of processor time that this process takes from now on; a busy machine adds nothing to it. */
export function startProcessorTime(): () => number {
  const start = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(start);
    return (user + system) / 1_000;
  };
}
