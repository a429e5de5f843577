import { request as requestPlain, type IncomingMessage } from "node:http";
import { request as requestTls } from "node:https";
import { once } from "node:events";

interface Page {
  readonly status: number;
  readonly location: string | undefined;
  readonly text: string;
}

/**
 * A person at a browser logs in and agrees: follows redirects, keeps cookies, sends the forms that it is shown.
 * @throws where it ends at a page instead of the client's callback.
 */
export async function logIn(
  start: string,
  { ca, name }: { readonly ca: string; readonly name: string },
): Promise<void> {
  const cookies = new Map<string, string>();
  let url = new URL(start);
  let form: URLSearchParams | undefined;
  for (let step = 0; step < 30; step++) {
    if (url.protocol === "http:") return callBack(url);
    const page = await open(url, cookies, ca, form);
    if (page.location !== undefined) {
      url = new URL(page.location, url);
      form = undefined;
      continue;
    }
    const [, action] = /<form[^>]* action="([^"]+)"/.exec(page.text) ?? [];
    if (action === undefined || page.status !== 200)
      throw new Error(`${page.status} at ${url.href}: ${page.text}`);
    form = fillIn(page.text, name);
    url = new URL(action, url);
  }
  throw new Error(`no end at ${url.href}`);
}

/** Clients close their server as soon as they have the code, often before they have answered. */
async function callBack(url: URL): Promise<void> {
  const sent = requestPlain(url);
  sent.on("response", (answer) => answer.resume()).end();
  await once(sent, "close").catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ECONNRESET") throw error;
  });
}

/** Hidden fields as they are, and a name and a password where they are asked for. */
function fillIn(page: string, name: string): URLSearchParams {
  const form = new URLSearchParams();
  for (const [, input = ""] of page.matchAll(/<input ([^>]+)>/g)) {
    const [, field] = /name="([^"]+)"/.exec(input) ?? [];
    const [, value = ""] = /value="([^"]*)"/.exec(input) ?? [];
    if (field !== undefined) form.set(field, value === "" ? name : value);
  }
  return form;
}

async function open(
  url: URL,
  cookies: Map<string, string>,
  ca: string,
  form: URLSearchParams | undefined,
): Promise<Page> {
  const body = form?.toString() ?? "";
  const jar = Array.from(cookies, ([name, value]) => `${name}=${value}`);
  const options = {
    method: form === undefined ? "GET" : "POST",
    headers: {
      accept: "text/html",
      cookie: jar.join("; "),
      ...(form !== undefined && {
        "content-type": "application/x-www-form-urlencoded",
        "content-length": Buffer.byteLength(body),
      }),
    },
  };
  const sent = requestTls(url, { ...options, ca });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  for (const cookie of answer.headers["set-cookie"] ?? []) {
    const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
    cookies.set(name, value);
  }
  const text = Buffer.concat(await answer.toArray()).toString();
  const { statusCode = 0, headers } = answer;
  return { status: statusCode, location: headers.location, text };
}
