import { ProvenderError } from "./provender-error.ts";

/** Authentication is on and the request carries no token. */
export class TokenNeeded extends ProvenderError {
  readonly code = "token-needed";
  constructor() {
    super(
      "This mirror wants a token and none was sent: set one for its hostname in a credentials block of the CLI configuration or in TF_TOKEN_…, or run terraform login.",
    );
  }
}

/** A token that does not let anybody in; `reason` never repeats what was sent. */
export class TokenRefused extends ProvenderError {
  readonly code = "token-refused";
  readonly reason: string;
  constructor(reason: string, options?: ErrorOptions) {
    super(
      `The token is refused because ${reason}: get a new one from the mirror's operator, or run terraform login.`,
      options,
    );
    this.reason = reason;
  }
}

/** A signed archive URL that has expired, was changed, or was signed with another key. */
export class ArchiveUrlRefused extends ProvenderError {
  readonly code = "archive-url-refused";
  constructor(reason: string) {
    super(
      `The archive's URL is refused because ${reason}: run init again, which gets a new one.`,
    );
  }
}

/** A mirror that a command asks wants a token, or refuses the one that it got, for the `reason` that it tells. */
export class MirrorWantsToken extends ProvenderError {
  readonly code = "origin-credentials";
  readonly url: string;
  constructor(
    { origin, host }: URL,
    { reason, ...options }: ErrorOptions & { reason?: string | undefined } = {},
  ) {
    const problem =
      reason === undefined
        ? "wants a token, and got none or one that it does not take"
        : `refuses the token that it got because ${reason}`;
    const name = host.replaceAll("-", "__").replaceAll(".", "_");
    super(
      `${origin} ${problem}: set TF_TOKEN_${name} to one that it knows.`,
      options,
    );
    this.url = origin;
  }
}
