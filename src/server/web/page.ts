import type { Context } from "koa";

/** A page for people: no script, nothing from elsewhere, never kept. `body` is HTML, whatever is no text of ours escaped. */
export function sendPage(ctx: Context, title: string, body: string): void {
  ctx.status = 200;
  ctx.set(
    "Content-Security-Policy",
    "default-src 'none'; style-src 'unsafe-inline'",
  );
  ctx.set("Cache-Control", "no-store");
  ctx.type = "text/html; charset=utf-8";
  ctx.body = renderPage(escapeHtml(title), body);
}

function renderPage(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<title>${title}</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;overflow-wrap:anywhere}
pre{background:#f4f4f4;color:#111;padding:1rem;overflow-x:auto}td,th{text-align:left;padding:.1rem 1rem .1rem 0;vertical-align:top}</style>
<h1>${title}</h1>
${body}
</html>
`;
}

export function escapeHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    "&": "&amp;",
    "<": "&lt;",
    ">": "&gt;",
    '"': "&quot;",
  };
  return text.replaceAll(/[&<>"]/g, (character) => entities[character] ?? "");
}
