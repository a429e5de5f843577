import {
  guidanceOf,
  phraseOf,
  type ProvenderError,
} from "../../errors/index.ts";

const longest = 200;

/**
 * Formats the reason phrase of a refusal (RFC 9112, 4), because clients print
 * it. It is one sentence on the cause, printable ASCII of at most 200 bytes,
 * without facts that only the operator may know.
 * `page` is the URL of the whole answer; it is left out where it does not fit.
 */
export function formatReasonPhrase(
  error: ProvenderError | undefined,
  page: string | undefined,
): string {
  const phrase = error && phraseOf(error);
  const cause = makeSafe(
    phrase ?? "The mirror failed, its operator finds the reason in the log",
  );
  const { because, contact } = error === undefined ? {} : guidanceOf(error);
  const said = because === undefined ? cause : `${cause}: ${because}`;
  const full = contact === undefined ? said : `${said}. Contact: ${contact}`;
  const whole = page === undefined ? full : `${full}, see ${page}`;
  return whole.length <= longest ? whole : full.slice(0, longest);
}

/** Removes unsafe characters. Clients, origins and keys choose names freely. */
function makeSafe(text: string): string {
  return text.replaceAll(/[^\w .,:'()[\]+-]/g, "");
}
