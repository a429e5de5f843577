import { row } from "../row.ts";

const later = "try again, or look at the origin";

/** The reason of an answer that ended before its announced end. */
export const cutShort = "the body was cut short";

/** Failures of an origin, which say nothing about whether a thing exists. */
export const originErrors = {
  "origin-unreachable": row(["url", "reason"], {
    status: 502,
    phrase: "The origin registry cannot be reached",
    sentence: "{url} could not be reached ({reason})",
    remedy: ({ url }) =>
      url.startsWith("file:")
        ? "check that the folder of this origin is there, the daemon may read it and its disk works"
        : "check the network, proxy and CA on the way there",
  }),
  "origin-timeout": row(["url", "late"], {
    status: 504,
    phrase: "The origin registry is not answering",
    sentence: "{url} did not answer in time ({late})",
    remedy: later,
  }),
  "origin-status": row(["url", "status"], {
    status: 502,
    phrase: "The origin registry is failing",
    sentence: "{url} answered with status {status}, expected 200",
    remedy: later,
  }),
  /** 429, or 503 with Retry-After. */
  "origin-busy": row(["url", "retryAfterSeconds"], {
    status: 503,
    phrase: "The origin registry asks the mirror to wait",
    sentence: "{url} is asked too often, as it says",
    remedy: ({ retryAfterSeconds: seconds }) =>
      `try again ${seconds === undefined ? "later" : `in ${seconds} s`}`,
  }),
  "origin-suspended": row(["url", "retryAfterSeconds", "reason"], {
    status: 503,
    phrase: "The origin registry failed too often lately",
    sentence:
      "{url} is not asked for another {retryAfterSeconds} s because it failed too often ({reason})",
    remedy: "try again later, or look at the origin",
  }),
  /** In the words of who refuses the token, where there are any. */
  "origin-credentials": row(["url", "problem", "remedy", "words"], {
    status: 502,
    phrase: "The origin registry rejects the mirror's credentials",
    sentence: "{url} {problem}",
    remedy: "{remedy}",
  }),
  /** Too large, of another media type, not in the protocol's shape, or cut short. */
  "origin-answer": row(["url", "reason"], {
    status: 502,
    phrase: "The origin registry gave an unusable answer",
    sentence: "{url} gave an unusable answer ({reason})",
    remedy: later,
  }),
  "origin-address-refused": row(["url", "reason"], {
    status: 502,
    phrase:
      "The origin registry leads to an address that the mirror may not ask",
    sentence: "{url} is not asked because {reason}",
    remedy:
      'configure the origin\'s "url" or "allowPrivateAddresses" if this is intended',
  }),
};
