/** Thrown for an invalid module source. The message contains no secrets. */
export class SourceRefused extends Error {}

/**
 * A name that git would make (git-check-ref-format), and nothing that a command
 * line or the syntax of revisions could read as something else.
 */
export function isGitRef(text: string): boolean {
  return (
    /^[\x21-\x7e]{1,200}$/.test(text) &&
    !/[~^:?*[\\]|\.\.|@\{|\/\/|^[-./]|\/[-.]|\.lock(?:\/|$)|[./]$/.test(text)
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
