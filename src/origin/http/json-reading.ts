/** How a document is read: its JSON checked for shape, and what is wanted of it taken out. */
export interface JsonReading<T> {
  /** Throws OriginAnswerUnusable. */
  readonly read: (url: URL, value: unknown) => T;
  /** Where a thread finds `read`; undefined keeps it on the event loop. */
  readonly place: ReadingPlace | undefined;
}

/** `name` is exported by `module` (a file: URL) and takes the URL, the value and `rest`; all of it and the answer can be cloned. */
export interface ReadingPlace {
  readonly module: string;
  readonly name: string;
  readonly rest: readonly unknown[];
}

/** Readings by a function that the module at `module` exports under the name it has. */
export function readingBy<R extends readonly unknown[], T>(
  module: string,
  read: (url: URL, value: unknown, ...rest: R) => T,
): (...rest: R) => JsonReading<T> {
  return (...rest) => ({
    read: (url, value) => read(url, value, ...rest),
    place: { module, name: read.name, rest },
  });
}
