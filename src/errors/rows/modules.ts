import { approveAfterCheck, nameContent, nameRelease } from "../release.ts";
import { row } from "../row.ts";

/** Sources and archives of modules. */
export const moduleErrors = {
  /** No client should be sent there. */
  "module-source-refused": row(["module", "reason"], {
    status: 451,
    phrase: "Refused, the registry names a place that no client may be sent to",
    sentence:
      "The place that the registry names for {module} is refused ({reason})",
    remedy: "tell its publisher",
  }),
  /** It could harm who unpacks it. */
  "module-archive-refused": row(["module", "reason"], {
    status: 451,
    phrase: "Refused, the module's archive could do harm",
    sentence:
      "The archive of {module} is refused and nothing of it was kept ({reason})",
    remedy: "tell its publisher",
  }),
  "module-replaced": row(["release", "expected", "offered"], {
    status: 451,
    phrase: "Refused, its content differs from what was seen first",
    sentence: ({ release, expected, offered }) =>
      `${nameRelease(release)} is offered with other content than clients get of it (expected ${nameContent(release, expected)}, got ${nameContent(release, offered)})`,
    remedy: ({ release, offered }) => approveAfterCheck(release, offered),
  }),
};
