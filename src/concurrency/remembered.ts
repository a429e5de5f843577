/** What `make` comes to, made anew once so many milliseconds have passed; whoever asks meanwhile shares it. A failure is not remembered. */
export function remembered<T>(
  milliseconds: number,
  make: () => Promise<T>,
): () => Promise<T> {
  let until = 0;
  let last: Promise<T> | undefined;
  return () => {
    if (last !== undefined && performance.now() < until) return last;
    until = performance.now() + milliseconds;
    const made = make();
    last = made;
    made.catch(() => {
      if (last === made) last = undefined;
    });
    return made;
  };
}
