import { describe, expect, test } from "bun:test";
import { renderDiagnostic, renderDiagnostics } from "../../src/cli/render-diagnostic.ts";
import type { Diagnostic, Span } from "../../src/policy/diagnostic.ts";

const plain = { color: false };

function diagnostic(span: Partial<Span> | null, other: Partial<Diagnostic> = {}): Diagnostic {
  const place = { file: "team.toml", line: 12, column: 1, length: 10, text: "" };
  return {
    severity: "error",
    code: "unknown-key",
    message: "[network] has no key `allow_host`",
    hint: "did you mean `allowed_hosts`?",
    ...other,
    span: span === null ? null : { ...place, ...span },
  };
}

/** The line of the excerpt and the line of the caret. */
function excerpt(span: Partial<Span>): string[] {
  return renderDiagnostic(diagnostic(span, { hint: null }), plain)
    .split("\n")
    .slice(2, 4);
}

test("renderDiagnostic() shows what happened, where, and how to fix it", () => {
  const shown = renderDiagnostic(diagnostic({ text: 'allow_host = ["a.example"]' }), plain);
  expect(shown).toBe(
    [
      "error[unknown-key]: [network] has no key `allow_host`",
      "  --> team.toml:12:1",
      '12 | allow_host = ["a.example"]',
      "   | ^^^^^^^^^^",
      "hint: did you mean `allowed_hosts`?",
      "",
    ].join("\n"),
  );
});

test("renderDiagnostic() leaves out the place and the hint that are not there", () => {
  const shown = renderDiagnostic(diagnostic(null, { severity: "warning", hint: null }), plain);
  expect(shown).toBe("warning[unknown-key]: [network] has no key `allow_host`\n");
});

describe("the caret", () => {
  test.each([
    {
      because: "a tab fills up to the next stop",
      text: "\tab",
      column: 2,
      length: 2,
      at: 4,
      cells: 2,
    },
    {
      because: "a tab in the middle does too",
      text: "a\tb",
      column: 3,
      length: 1,
      at: 4,
      cells: 1,
    },
    {
      because: "a wide character takes two cells",
      text: "名a",
      column: 2,
      length: 1,
      at: 2,
      cells: 1,
    },
    { because: "and is underlined twice", text: "a名", column: 2, length: 1, at: 1, cells: 2 },
    { because: "an emoji is one character", text: "😀 x", column: 3, length: 1, at: 3, cells: 1 },
    { because: "an accent takes no cell", text: "e\u0301x", column: 3, length: 1, at: 1, cells: 1 },
    {
      because: "an escape takes four cells",
      text: "\u001bx",
      column: 2,
      length: 1,
      at: 4,
      cells: 1,
    },
    {
      because: "the end of the line has a place",
      text: "ab",
      column: 3,
      length: 1,
      at: 2,
      cells: 1,
    },
    {
      because: "a span cannot leave its line",
      text: "abc",
      column: 2,
      length: 99,
      at: 1,
      cells: 2,
    },
    { because: "an empty line has a place", text: "", column: 1, length: 1, at: 0, cells: 1 },
  ])("$because", ({ text, column, length, at, cells }) => {
    const [, caret] = excerpt({ text, column, length });
    expect(caret).toBe(`   | ${" ".repeat(at)}${"^".repeat(cells)}`);
  });

  test("stays in view on a line of a megabyte", () => {
    const text = `${"a".repeat(500_000)}WRONG${"b".repeat(500_000)}`;
    const [line = "", caret = ""] = excerpt({ text, column: 500_001, length: 5 });
    expect(line.length).toBeLessThan(200);
    expect(line.slice(caret.indexOf("^"), caret.lastIndexOf("^") + 1)).toBe("WRONG");
    expect(line).toStartWith("12 | …aaa");
    expect(line).toEndWith("bbb…");
  });
});

test("renderDiagnostic() escapes what a terminal would obey, wherever it stands", () => {
  const evil = "\u001b]0;x\u0007\u202e";
  const shown = renderDiagnostic(
    diagnostic({ file: evil, text: evil }, { message: evil, hint: evil }),
    plain,
  );
  expect(shown).not.toContain("\u001b");
  expect(shown).not.toContain("\u0007");
  expect(shown).not.toContain("\u202e");
  expect(shown.match(/\\x1b/g)).toHaveLength(4);
});

test("renderDiagnostic() colours without changing the text", () => {
  const one = diagnostic({ text: "allow_host = []" });
  const colored = renderDiagnostic(one, { color: true });
  expect(colored).toContain("\u001b[1;31merror[unknown-key]\u001b[0m");
  expect(Bun.stripANSI(colored)).toBe(renderDiagnostic(one, plain));
});

test.each([
  { severities: ["error"], count: null },
  { severities: ["error", "error"], count: "2 errors" },
  { severities: ["warning", "warning"], count: "2 warnings" },
  { severities: ["error", "warning", "warning"], count: "1 error, 2 warnings" },
] as const)("renderDiagnostics() ends $severities in $count", ({ severities, count }) => {
  const shown = renderDiagnostics(
    severities.map((severity) => diagnostic(null, { severity, hint: null })),
    plain,
  );
  const lines = shown.trimEnd().split("\n");
  if (count === null) expect(lines).toHaveLength(1);
  else expect(lines.at(-1)).toBe(count);
});
