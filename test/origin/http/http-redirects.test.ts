import { describe, expect, it } from "vitest";
import * as faults from "../../fakes/faults.ts";
import { hops, never, startHome } from "../clients.ts";

const documents = { "/document": '{"a":1}' };
const { home, clientOf, ...own } = await startHome(documents);
const { home: other } = await startHome(documents, own.authority);

function urlOf(path: string, registry = home): URL {
  return new URL(path, registry.url);
}

/** Asks for a path of home that leads to another place. */
function follow(
  location: string,
  settings: Parameters<typeof clientOf>[0] = {},
  status = 302,
) {
  home.script("other", [faults.redirect(location, status)]);
  return clientOf(settings).fetchJson(urlOf("/old"), never);
}

describe("a redirect", () => {
  it("is followed ten times and not eleven, and the last URL is reported", async () => {
    const client = clientOf();
    home.script("other", hops("/document"));
    const answer = await client.fetchJson(urlOf("/hop/9"), never);
    expect(answer.url.href).toBe(urlOf("/document").href);
    expect(home.requests.count()).toBe(11);
    home.requests.clear();
    await expect(client.fetchJson(urlOf("/hop/10"), never)).rejects.toThrow(
      /redirects more than 10 times/,
    );
    expect(home.requests.count()).toBe(11);
  });

  it.each([301, 302, 303, 307, 308])("may have the status %i", async (code) => {
    const { value } = await follow("/document", {}, code);
    expect(value).toEqual({ a: 1 });
  });

  it.each([300, 304, 305, 306])(
    "is not followed with the status %i",
    async (code) => {
      const asked = follow("/document", {}, code);
      await expect(asked).rejects.toThrow(`status ${code}`);
    },
  );

  it.each(["https://", "https://[::1", "//"])(
    "to %j leads nowhere",
    async (location) => {
      await expect(follow(location)).rejects.toThrow(/Location/);
    },
  );

  it("to a name that leads to the loopback is not followed", async () => {
    const configured = new Set([`127.0.0.1:${home.port}`]);
    await expect(follow("https://localhost/", { configured })).rejects.toThrow(
      /leads to an address that is not public/,
    );
  });

  it("to a private address is followed with allowPrivateAddresses", async () => {
    const place = `https://localhost:${other.port}/document`;
    const { value } = await follow(place, { allowPrivateAddresses: true });
    expect(value).toEqual({ a: 1 });
    expect(other.requests.count()).toBe(1);
  });
});

describe("the origin's token", () => {
  const settings = { token: "sesame", allowPrivateAddresses: true };

  it("goes to the origin's own scheme, host and port, redirected or not", async () => {
    await follow("/document", settings);
    const sent = home.requests.list().map((one) => one.headers.authorization);
    expect(sent).toEqual(["Bearer sesame", "Bearer sesame"]);
  });

  it.each([
    ["another port", urlOf("/document", other).href, other],
    ["another name", `https://localhost:${home.port}/document`, home],
  ])("does not go to %s, asked or redirected", async (_, target, reached) => {
    await clientOf(settings).fetchJson(new URL(target), never);
    await follow(target, settings);
    const asked = reached.requests.list("other");
    for (const one of [asked.at(0), asked.at(-1)]) {
      expect(one?.path).toBe("/document");
      expect(one?.headers.authorization).toBeUndefined();
    }
  });

  it("is in no error", async () => {
    home.script("other", faults.status(401));
    const client = clientOf(settings);
    const asked = client.fetchJson(urlOf("/document?sig=hush"), never);
    await expect(asked).rejects.toThrow(/^[^?]*status 401: check the "token"/);
    await expect(asked).rejects.not.toThrow(/sesame|hush/);
  });
});

describe("a login in a URL", () => {
  const open = { allowPrivateAddresses: true };
  const basic = (login: string) =>
    `Basic ${Buffer.from(login).toString("base64")}`;

  it.each([
    ["me:secret", "me:secret"],
    ["me", "me:"],
    [":secret", ":secret"],
    ["me%40home:a%2Fb%20%C3%A9%zz", "me@home:a/b \u00e9%zz"],
  ])("%s goes to its host and not on from there", async (written, sent) => {
    const client = clientOf(open);
    const target = urlOf("/document", other).href;
    home.script("other", [faults.redirect(target)]);
    const asked = urlOf("/old").href.replace("//", `//${written}@`);
    const answer = await client.fetchJson(new URL(asked), never);
    expect(answer.value).toEqual({ a: 1 });
    const [first] = home.requests.list();
    const [last] = other.requests.list();
    expect(first?.headers.authorization).toBe(basic(sent));
    expect(last?.headers.authorization).toBeUndefined();
  });

  it("of a redirect goes to where it leads", async () => {
    const target = urlOf("/document", other).href;
    await follow(target.replace("//", "//me:secret@"), open);
    const [last] = other.requests.list();
    expect(last?.headers.authorization).toBe(basic("me:secret"));
  });

  it("does not take the place of the origin's token, and is in no error", async () => {
    const client = clientOf({ ...open, token: "sesame" });
    home.script("other", faults.status(500));
    const asked = urlOf("/document").href.replace("//", "//me:secret@");
    const refused = client.fetchJson(new URL(asked), never);
    await expect(refused).rejects.not.toThrow(/me:|secret/);
    const [first] = home.requests.list();
    expect(first?.headers.authorization).toBe("Bearer sesame");
  });
});
