/** Remembers the result of `make`, but no failure, for so many milliseconds; concurrent calls share it. */
export function remembered<T>(
  milliseconds: number,
  make: () => Promise<T>,
): () => Promise<T> {
  let made: Promise<T> | undefined;
  let until = -Infinity;
  return () => {
    if (made !== undefined && performance.now() < until) return made;
    const making = make();
    made = making;
    until = performance.now() + milliseconds;
    making.catch(() => {
      if (made === making) made = undefined;
    });
    return making;
  };
}
