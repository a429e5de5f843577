/**
 * What opens an archive stands in its URL as `EXPIRES.HOLDER.SIGNATURE`: the
 * milliseconds since 1970 first, in 13 digits until 2286. Digits and dots may be
 * escaped, also more than once. What follows belongs to it up to the next space
 * or quote that is not escaped, whatever was put in between. `MAJOR.MINOR.PATCH`
 * of a version made of a date is none, unless as much as a signature follows.
 */
const ticket =
  /(?:[0-9]|%(?:25){0,9}3[0-9]){13,16}(?:\.|%(?:25){0,9}2e)(?!\d{1,16}\.\d{1,16}(?![\w-]{40}))(?:[^\s"\\]|\\.)*/gi;

/** A line for a log without what opens an archive; JSON stays JSON. */
export function redactTickets(line: string): string {
  return line.replaceAll(ticket, "[signed]");
}
