/** For options that may be given more than once. */
export function collect(
  value: string,
  values: readonly string[] = [],
): readonly string[] {
  return [...values, value];
}
