import { bucketErrors } from "./rows/bucket.ts";
import { bundleErrors } from "./rows/bundles.ts";
import { commandErrors } from "./rows/commands.ts";
import { moduleErrors } from "./rows/modules.ts";
import { originErrors } from "./rows/origins.ts";
import { requestErrors } from "./rows/requests.ts";
import { storeErrors } from "./rows/store.ts";
import { trustErrors } from "./rows/trust.ts";
import { verificationErrors } from "./rows/verification.ts";

/** Every error by its code: HTTP status, reason phrase, sentence and remedy. */
export const table = {
  ...requestErrors,
  ...originErrors,
  ...verificationErrors,
  ...trustErrors,
  ...moduleErrors,
  ...storeErrors,
  ...bucketErrors,
  ...bundleErrors,
  ...commandErrors,
};
