import { row } from "../row.ts";

const notServed = row(["hostname"], {
  status: 451,
  phrase: "This mirror does not serve {hostname}",
  sentence: "This mirror does not serve {hostname}",
  remedy: `ask its operator to add the hostname to "origins"`,
});

/** Errors of requests and their permissions. */
export const requestErrors = {
  "malformed-address": row(["what", "text", "expected"], {
    status: 400,
    phrase: "This is no address of a provider, module or version",
    sentence: ({ what, text }) =>
      `${JSON.stringify(text.slice(0, 200))} is not a ${what}`,
    remedy: "give {expected}",
  }),
  "malformed-request": row(["problem", "expected"], {
    status: 400,
    phrase: "The request is not well formed",
    sentence: "The request {problem}, expected {expected}",
    remedy: "check the client and what is in front of this mirror",
  }),
  "uri-too-long": row(["most"], {
    status: 414,
    phrase: "The URL is longer than any address",
    sentence: "The URL is longer than the {most} bytes that any address has",
    remedy: "check it",
  }),
  "method-not-allowed": row(["method"], {
    status: 405,
    phrase: "Only GET and HEAD are served",
    sentence: ({ method }) => `${method.slice(0, 20)} is not served`,
    remedy: "use GET or HEAD",
  }),
  "range-not-satisfiable": row(["filename", "size"], {
    status: 416,
    phrase: "The range is not within the archive",
    sentence: "{filename} has {size} bytes",
    remedy: "ask for a range within them",
  }),
  "no-such-page": row([], {
    status: 404,
    phrase: "There is nothing at this path",
    sentence: "There is nothing at this path",
    remedy:
      "look for provider mirrors under /providers/HOSTNAME/NAMESPACE/TYPE/ and for modules under /v1/modules/HOSTNAME/",
  }),
  /** Not 404, for which clients go on past the mirror. */
  "wrong-mirror-url": row(["base"], {
    status: 400,
    phrase: "This is not the url of the network mirror",
    sentence: "The network mirror is not at this path but below {base}",
    remedy: 'set "url" of the network_mirror block to it',
  }),
  "not-ready": row(["reason"], {
    status: 503,
    phrase: "The mirror is not ready",
    sentence: "The mirror is not ready ({reason})",
    remedy: "try again shortly",
  }),
  "token-needed": row([], {
    status: 401,
    phrase:
      "This mirror wants a token, set one in a credentials block or run login",
    sentence: "This mirror wants a token and none was sent",
    remedy:
      "set one for its hostname in a credentials block of the CLI configuration or in TF_TOKEN_…, or run terraform login",
  }),
  /** The reason never repeats what was sent. */
  "token-refused": row(["reason"], {
    status: 401,
    phrase: "The token is refused because {reason}",
    sentence: "The token is refused because {reason}",
    remedy: "get a new one from the mirror's operator, or run terraform login",
  }),
  "archive-url-refused": row(["reason"], {
    status: 401,
    phrase: "The archive's URL has expired or was changed, run init again",
    sentence: "The archive's URL is refused because {reason}",
    remedy: "run init again, which gets a new one",
  }),
  "origin-not-served": notServed,
  "origin-not-served-fall-through": { ...notServed, status: 404 },
  /** The origin said so. */
  "not-found": row(["subject"], {
    status: 404,
    phrase: "The origin registry says that this does not exist",
    sentence: "The origin registry says that {subject} does not exist",
    remedy: "check the name and the version",
  }),
  "not-stored": row(["subject"], {
    status: 404,
    phrase: "Not stored, and this mirror is offline",
    sentence: "{subject} is not stored and this mirror is offline",
    remedy: "prefetch or import it first",
  }),
  "too-busy": row(["what"], {
    status: 503,
    phrase: "The mirror has too much to do, try again shortly",
    sentence: "The mirror has too many {what} at once",
    remedy: "try again shortly",
  }),
};
