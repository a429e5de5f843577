import { type Configuration } from "../config.ts";
import { indexTokens } from "../server/client-tokens.ts";
import {
  Authentication,
  type AuthenticationRules,
} from "../server/authentication.ts";
import { ArchiveUrlKeys } from "../store/archive-url-keys.ts";
import { type StoreLayout } from "../store/layout.ts";
import type { Logger } from "../telemetry/logger.ts";

/** Milliseconds between looks at the age of the keys. */
const keyRenewal = 60 * 60 * 1000;

/** Who may ask, from the configuration now and from a later one by `replace`. */
export interface WiredAuthentication {
  readonly authentication: Authentication;
  replace(configuration: Configuration): void;
  close(): void;
}

export async function wireAuthentication(
  configuration: Configuration,
  layout: StoreLayout,
  logger: Logger,
): Promise<WiredAuthentication> {
  const keys = await ArchiveUrlKeys.open(layout, new Date());
  let { archiveUrls } = configuration.auth;
  const renew = () =>
    keys
      .renew(new Date(), archiveUrls)
      .catch((error: unknown) =>
        logger.error(
          { err: error },
          "the keys of archive URLs stay as they are",
        ),
      );
  await renew();
  const renewal = setInterval(() => void renew(), keyRenewal).unref();
  const authentication = new Authentication(rulesOf(configuration), {
    keys,
    now: () => Date.now(),
  });
  warnOfClearText(configuration, authentication, logger);
  return {
    authentication,
    replace: (next) => {
      ({ archiveUrls } = next.auth);
      authentication.replaceRules(rulesOf(next));
      warnOfClearText(next, authentication, logger);
    },
    close: () => clearInterval(renewal),
  };
}

function rulesOf({ auth }: Configuration): AuthenticationRules {
  const { archiveUrls, metrics } = auth;
  const tokens = auth.tokens.map(({ name, sha256, expires }) => ({
    name,
    sha256: Buffer.from(sha256, "hex"),
    expires,
  }));
  return { tokens: indexTokens(tokens), archiveUrls, metrics };
}

function warnOfClearText(
  { listen }: Configuration,
  authentication: Authentication,
  logger: Logger,
): void {
  if (authentication.isOn && listen.tls.kind === "off")
    logger.warn(
      "listen.tls is off: tokens can be read on the way unless a proxy in front adds TLS",
    );
}
