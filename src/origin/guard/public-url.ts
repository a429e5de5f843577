/** A URL as it may appear in errors and logs: without user, query and fragment, which can carry secrets. */
export function formatPublicUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}
