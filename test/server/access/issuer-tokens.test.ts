import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { bearer } from "../../client-token.ts";
import { createAuthority } from "../../fakes/authority.ts";
import { Issuer } from "../../fakes/issuer.ts";
import { scratch, startMirror } from "../../running-mirror.ts";
import { awaitLineOf } from "../../scenes/log-lines.ts";
import { outcomeOf } from "../../scenes/provider-requests.ts";

const audience = "provender";

/** As GitHub Actions and GitLab CI write them. */
const github = {
  sub: "repo:acme/infra:ref:refs/heads/main",
  repository: "acme/infra",
  repository_owner: "acme",
  repository_owner_id: "1234",
  ref: "refs/heads/main",
};
const gitlab = {
  sub: "project_path:acme/platform/live:ref_type:branch:ref:main",
  namespace_path: "acme/platform",
  project_path: "acme/platform/live",
};

const authority = await createAuthority();
const ca = join(scratch("ca"), "ca.pem");
writeFileSync(ca, authority.caPem);
const one = await Issuer.start(authority);
const other = await Issuer.start(authority);
const issuers = [one, other] as const;
const oidc = [
  {
    ...{ issuer: one.url, audience, ca },
    claims: { repository_owner: "acme", ref: ["refs/heads/*"] },
  },
  {
    ...{ issuer: other.url, audience, ca },
    claims: { sub: "project_path:acme/*" },
  },
];
const mirror = await startMirror({ config: { auth: { oidc } } });

const ask = async (at: 0 | 1, claims: object) => {
  const token = await issuers[at].sign({
    claims: { aud: audience, ...claims },
  });
  return mirror.get("/browse", bearer(token));
};

it.each([
  ["a repository of the owner", 0, github, "200"],
  ["another owner", 0, { ...github, repository_owner: "evil" }, "401"],
  [
    "an owner whose name begins so",
    0,
    { ...github, repository_owner: "acme-x" },
    "401",
  ],
  ["a tag", 0, { ...github, ref: "refs/tags/v1" }, "401"],
  ["no owner at all", 0, { sub: github.sub, ref: github.ref }, "401"],
  ["a project of the group", 1, gitlab, "200"],
  [
    "a project of another group",
    1,
    { ...gitlab, sub: "project_path:evil/acme/x" },
    "401",
  ],
  ["what the other issuer asks for", 1, github, "401"],
  ["another audience", 0, { ...github, aud: "other" }, "401"],
] as const)("a token of %s", async (_, at, claims, expected) => {
  const answer = await ask(at, claims);
  expect(outcomeOf(answer).slice(0, 3)).toBe(expected);
});

it("names the claim that is refused", async () => {
  const answer = await ask(0, { ...github, repository_owner: "evil" });
  expect(answer.body.toString()).toContain(
    'its claim \\"repository_owner\\" has no value that this mirror takes',
  );
});

it("tells equal subjects of two issuers apart", async () => {
  const claims = { ...github, sub: "project_path:acme/same" };
  const names = [];
  for (const at of [0, 1] as const) {
    const answer = await ask(at, claims);
    expect(answer.status).toBe(200);
    names.push((await awaitLineOf(mirror, answer)).token);
  }
  expect(names).toEqual(
    issuers.map(
      ({ url }) => `oidc:project_path:acme/same@${url.replace("https://", "")}`,
    ),
  );
});

it("offers no login, since no issuer has a client for it", async () => {
  const answer = await mirror.get("/.well-known/terraform.json");
  expect(answer.json()).not.toHaveProperty(["login.v1"]);
});
