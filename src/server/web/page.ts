import { createHash } from "node:crypto";
import type { Context } from "koa";
import { html, Html } from "./html.ts";

const style = `
:root{color-scheme:light dark;--text:#1b1f24;--back:#fff;--soft:#f1f3f5;--line:#ccd2d9;--link:#0b57a4;--bad:#a4161a}
@media(prefers-color-scheme:dark){:root{--text:#e4e7eb;--back:#14171b;--soft:#20252b;--line:#3c444d;--link:#8cc2ff;--bad:#ff9b9b}}
*{box-sizing:border-box}
body{margin:0;color:var(--text);background:var(--back);font:1rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
header,main{max-width:72rem;margin:0 auto;padding:.75rem 1rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1.5rem;align-items:baseline;border-bottom:1px solid var(--line)}
header strong{font-size:1.1rem}
nav{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
a{color:var(--link)}
a[aria-current]{color:var(--text);font-weight:600;text-decoration:none}
h1{font-size:1.5rem;line-height:1.25}
h2{font-size:1.15rem;margin-top:2rem}
pre{background:var(--soft);padding:.75rem 1rem;overflow-x:auto;overflow-wrap:normal;border-radius:.25rem}
code,pre{font:.875rem/1.45 ui-monospace,monospace}
table{border-collapse:collapse;width:100%}
td{overflow-wrap:break-word}
td code{overflow-wrap:anywhere}
th,td{text-align:left;vertical-align:top;padding:.35rem 1rem .35rem 0;border-bottom:1px solid var(--line)}
@media(max-width:48rem){thead{position:absolute;clip-path:inset(50%)}tr,td{display:block;overflow-wrap:anywhere}tr{border-bottom:1px solid var(--line);padding:.5rem 0}td{border:0;padding:.1rem 0}td::before{content:attr(data-head)": ";font-weight:600}td:empty{display:none}}
.bad{color:var(--bad)}
dt{font-weight:600}
dd{margin:0 0 .5rem}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end}
label{flex:0 1 28rem;min-width:0}
input{width:100%}
input,button{font:inherit;color:inherit;background:var(--back);border:1px solid var(--text);border-radius:.25rem;padding:.3rem .6rem;max-width:100%}
:focus-visible{outline:3px solid var(--link);outline-offset:2px}
`;

const styleElement = new Html(`<style>${style}</style>`);
const styleHash = createHash("sha256").update(style).digest("base64");

/** No script runs, nothing comes from elsewhere, no page frames it; a search asks this mirror. */
const policy = [
  "default-src 'none'",
  `style-src 'sha256-${styleHash}'`,
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

const pages = [
  ["./", "Set up"],
  ["browse", "Browse"],
  ["decisions", "Decisions"],
] as const;

/** A page for people. Links are relative, so that the mirror may be below any path: `up` leads to its root. */
export function sendPage(
  ctx: Context,
  title: string,
  body: Html,
  { status = 200, up = "" }: { status?: number; up?: string } = {},
): void {
  const links = pages.map(([path, name]) => {
    const current = name === title && html` aria-current="page"`;
    return html`<a href="${up}${path}" ${current}>${name}</a>`;
  });
  const page = html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} - provender</title>
        ${styleElement}
      </head>
      <body>
        <header>
          <strong>provender</strong>
          <nav aria-label="Pages">${links}</nav>
        </header>
        <main>
          <h1>${title}</h1>
          ${body}
        </main>
      </body>
    </html> `;
  ctx.status = status;
  ctx.set("Content-Security-Policy", policy);
  ctx.set("X-Content-Type-Options", "nosniff");
  ctx.set("Referrer-Policy", "no-referrer");
  ctx.set("Cache-Control", "no-store");
  ctx.type = "text/html; charset=utf-8";
  ctx.body = page.text;
}

/** A table, of which narrow screens show one cell below another; the roles keep it a table for screen readers there. */
export function table(
  name: string,
  heads: readonly string[],
  rows: readonly (readonly (Html | string | number | undefined)[])[],
): Html {
  return html`<table role="table" aria-label="${name}">
    <thead role="rowgroup">
      <tr role="row">
        ${heads.map((head) => html`<th role="columnheader" scope="col">${head}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (row) =>
          html`<tr role="row">
            ${row.map((cell, index) => html`<td role="cell" data-head="${heads[index]}">${cell}</td>`)}
          </tr>`,
      )}
    </tbody>
  </table>`;
}
