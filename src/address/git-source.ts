/** Thrown for an invalid module source. The message contains no secrets. */
export class SourceRefused extends Error {}

/**
 * A narrower form than git's own (git-check-ref-format): nothing that a command line, a refspec or the syntax of revisions
 * could read as something else.
 */
export function isGitRef(text: string): boolean {
  return (
    /^[A-Za-z0-9_][\w./+@=-]{0,199}$/.test(text) &&
    !/\.\.|@\{|\/\/|\/\.|\/-|\.lock(?:\/|$)|[./]$/.test(text)
  );
}

/** A commit's full name. */
export function isCommit(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** The first digits of a commit's name. */
export function isShortCommit(text: string): boolean {
  return /^[0-9a-f]{7,39}$/.test(text);
}

const host = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;

/** `https:`, or `ssh:` with a user and without a password; a query may follow. Throws SourceRefused. */
export function parseGitUrl(text: string): URL {
  const url = URL.parse(text);
  if (url === null) throw new SourceRefused("it is not a URL");
  if (url.protocol === "https:") return url;
  if (url.protocol !== "ssh:")
    throw new SourceRefused(
      `git is asked over https and ssh only, not over "${url.protocol}"`,
    );
  const fit =
    host.test(url.hostname) &&
    /^[a-z_][a-z0-9_-]{0,31}$/.test(url.username) &&
    url.password === "" &&
    /^\/[A-Za-z0-9_~][\w.~/+@-]*$/.test(url.pathname);
  if (!fit)
    throw new SourceRefused(
      "expected ssh://USER@HOST/PATH of plain names and without a password",
    );
  return url;
}
