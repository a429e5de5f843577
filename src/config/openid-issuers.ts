import * as z from "zod";
import { httpsUrl, matching, optional, text, withDefault } from "./leaf.ts";
import { certificateFile } from "./origins.ts";

/**
 * Issuers that sign tokens for everyone who has an account there, and the claims that name the account; the first is
 * the one to suggest. Documented by each service, under "OpenID Connect" and "workload identity".
 */
const publicIssuers: Readonly<Record<string, readonly string[]>> = {
  "token.actions.githubusercontent.com": [
    ...["repository_owner", "repository_owner_id", "repository"],
    ...["repository_id", "enterprise", "job_workflow_ref", "sub"],
  ],
  "gitlab.com": [
    ...["namespace_path", "namespace_id", "project_path"],
    ...["project_id", "sub"],
  ],
  "oidc.circleci.com": ["oidc.circleci.com/project-id", "sub"],
  "agent.buildkite.com": [
    ...["organization_slug", "organization_id", "pipeline_slug", "sub"],
  ],
  "app.terraform.io": [
    ...["terraform_organization_name", "terraform_organization_id", "sub"],
  ],
  "accounts.google.com": ["hd", "email", "sub"],
};

/** Tokens name their issuer letter by letter, and an issuer writes its hostname without the dot of a root. */
const issuerUrl = httpsUrl.refine(
  ({ hostname }) => !hostname.endsWith("."),
  "ends its hostname with a dot: expected it as the tokens of this issuer name it, without one",
);

/** A pattern of asterisks alone would let every token in. */
const pattern = matching(
  "a value, in which * stands for any characters",
  /^[^\0]*[^*\0][^\0]*$/,
);

const claims = z
  .record(z.string(), z.union([pattern, z.array(pattern).min(1)]))
  .transform(
    (rules) =>
      new Map(
        Object.entries(rules).map(([name, values]) => [name, [values].flat()]),
      ),
  );

/** One entry of `auth.oidc`; relative paths start as `path` says. */
export function issuerSchema(path: z.ZodType<string>) {
  return z
    .strictObject({
      issuer: issuerUrl,
      audience: text,
      clientId: optional(text),
      claims: withDefault(claims, {}),
      ca: optional(certificateFile(path)),
    })
    .superRefine(({ issuer, claims: rules }, context) => {
      const owners = publicIssuers[issuer.hostname];
      if (owners === undefined || owners.some((name) => rules.has(name)))
        return;
      const message = `takes tokens that anybody can get: ${issuer.hostname} signs for every account. Expected the claim of yours, such as "${owners[0]}: acme"`;
      context.addIssue({ code: "custom", path: ["claims"], message });
    });
}

/** Tokens name their issuer alone, so each has one entry. */
export function expectOneEach(
  issuers: readonly { readonly issuer: URL }[],
  context: z.RefinementCtx,
): void {
  const names = issuers.map(({ issuer }) => issuer.href);
  for (const [index, name] of names.entries()) {
    if (names.indexOf(name) === index) continue;
    const message = `is ${name} again: expected one entry for each issuer`;
    context.addIssue({ code: "custom", path: [index, "issuer"], message });
  }
}
