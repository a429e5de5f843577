import { z } from "zod";
import { leaf, optional, required, withDefault } from "./leaf.ts";
import { certificateFile, readCa } from "./origins.ts";
import { httpsUrl, text } from "./scalars.ts";

/** An issuer that signs tokens for everyone who has an account there. */
interface PublicIssuer {
  readonly host: string;
  /** Claims that name the account; the first is the one to suggest. */
  readonly owners: readonly [string, ...string[]];
}

/** Documented by each service, under "OpenID Connect" and "workload identity". */
const publicIssuers: readonly PublicIssuer[] = [
  {
    host: "token.actions.githubusercontent.com",
    owners: [
      ...(["repository_owner", "repository_owner_id", "repository"] as const),
      ...["repository_id", "enterprise", "job_workflow_ref", "sub"],
    ],
  },
  {
    host: "gitlab.com",
    owners: [
      ...(["namespace_path", "namespace_id", "project_path"] as const),
      ...["project_id", "sub"],
    ],
  },
  {
    host: "oidc.circleci.com",
    owners: ["oidc.circleci.com/project-id", "sub"],
  },
  {
    host: "agent.buildkite.com",
    owners: ["organization_slug", "organization_id", "pipeline_slug", "sub"],
  },
  {
    host: "app.terraform.io",
    owners: [
      ...([
        "terraform_organization_name",
        "terraform_organization_id",
      ] as const),
      "sub",
    ],
  },
  { host: "accounts.google.com", owners: ["hd", "email", "sub"] },
];

/** Tokens name their issuer letter by letter, and an issuer writes its hostname without the dot of a root. */
const issuerUrl = httpsUrl.refine(
  ({ hostname }) => !hostname.endsWith("."),
  "ends its hostname with a dot: expected it as the tokens of this issuer name it, without one",
);

/** A pattern of asterisks alone would let every token in. */
const pattern = leaf("a value, in which * stands for any characters", (value) =>
  required(/^[^\0]*[^*\0][^\0]*$/.exec(value)?.[0]),
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
      const owners = ownerClaims(issuer);
      if (owners === undefined || owners.some((name) => rules.has(name)))
        return;
      const message = `takes tokens that anybody can get: ${issuer.hostname} signs for every account. Expected the claim of yours, such as "${owners[0]}: acme"`;
      context.addIssue({ code: "custom", path: ["claims"], message });
    })
    .transform(readCa);
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

/** Claims that tell the accounts of a public issuer apart; undefined for an issuer of one's own. */
function ownerClaims(issuer: URL): readonly [string, ...string[]] | undefined {
  return publicIssuers.find(({ host }) => host === issuer.hostname)?.owners;
}
