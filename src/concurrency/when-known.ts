/** `then` of a value at once where it is known already, since each promise costs a request more than most values do. */
export function whenKnown<T, R>(
  value: T | Promise<T>,
  then: (value: T) => R | Promise<R>,
): R | Promise<R> {
  return value instanceof Promise ? value.then(then) : then(value);
}
