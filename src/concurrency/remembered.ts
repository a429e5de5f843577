import { LRUCache } from "lru-cache";

/**
 * Remembers the result of `make` for so many milliseconds; concurrent calls
 * share it. A failure is not remembered.
 */
export function remembered<T>(
  milliseconds: number,
  make: () => Promise<T>,
): () => Promise<T> {
  const each = rememberedEach<T>(milliseconds, 1);
  return () => each("", make);
}

/** The same for many names, of which the `most` that were asked for last are remembered. */
export function rememberedEach<T>(
  milliseconds: number,
  most: number,
): (name: string, make: () => Promise<T>) => Promise<T> {
  const known = new LRUCache<string, Promise<T>>({
    max: most,
    ttl: milliseconds,
  });
  return (name, make) => {
    const last = known.get(name);
    if (last !== undefined) return last;
    const made = make();
    known.set(name, made);
    made.catch(() => {
      if (known.peek(name) === made) known.delete(name);
    });
    return made;
  };
}
