let last = { at: 0, text: "" };

/** Now, as a field of a line; made once a millisecond. */
export function isoTime(): string {
  const at = Date.now();
  if (at !== last.at)
    last = { at, text: `,"time":"${new Date(at).toISOString()}"` };
  return last.text;
}
