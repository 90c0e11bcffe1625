import { afterAll, describe, expect, test } from "bun:test";
import { type AuditLine, FARADAY, readRecords, Workplace } from "../kernel/faraday-run.ts";
import { answering, HELLO } from "../proxy/proxy-fixture.ts";
import { exchangesOf, replay } from "./console-session.ts";
import { blocksOf, readDocument, tableRows } from "./markdown-blocks.ts";

const text = readDocument("docs/audit.md");
const place = new Workplace();
afterAll(() => place[Symbol.dispose]());

describe("docs/audit.md", () => {
  // In order: later blocks look at the logs of earlier ones.
  test.each(blocksOf(text, "console").map((block) => [block.line, block.text] as const))(
    "line %d: the commands print what the document says",
    async (_, block) => {
      const told = exchangesOf(block);
      expect(await replay(place, told)).toEqual([...told]);
    },
  );

  test.each(["start", "exec", "file", "net", "net-end", "end"])(
    "`%s`: every field, and no other",
    async (event) => {
      const fields = fieldsOf(await realRecord(event));
      const rows = [
        ...tableRows(text, "Fields of every record"),
        ...tableRows(text, `\`${event}\``),
      ];
      const told = rows.map(([field = "", type = ""]) => ({
        field: field.replaceAll("`", ""),
        isOptional: type.includes("optional"),
      }));
      const names = told.map(({ field }) => field);
      expect(fields.filter((field) => !names.includes(field))).toEqual([]);
      const missing = told.filter(
        ({ field, isOptional }) => !isOptional && !fields.includes(field),
      );
      expect(missing).toEqual([]);
    },
  );

  test.each(blocksOf(text, "json").map((block) => [block.line, block.text] as const))(
    "line %d: the sample has the fields of a real record",
    async (_, block) => {
      const sample: AuditLine = JSON.parse(block);
      expect(fieldsOf(sample)).toEqual(fieldsOf(await realRecord(sample.event)));
    },
  );
});

/** Every path of names that leads to a value; layers differ only by their name. */
function fieldsOf(record: object, prefix = ""): readonly string[] {
  const fields = Object.entries(record).flatMap(([name, value]) => {
    const field = prefix === "layers." ? `${prefix}*` : prefix + name;
    const isTable = typeof value === "object" && value !== null && !Array.isArray(value);
    return isTable ? fieldsOf(value, `${field}.`) : field;
  });
  return [...new Set(fields)];
}

async function realRecord(event: string): Promise<AuditLine> {
  const log = place.fresh("log.jsonl");
  const secret = place.write("secret", "x");
  const seal = event === "file" ? ["--read", "/usr", "--explain-denials"] : [];
  if (event.startsWith("net")) await requestSomething(log);
  else await place.bare([FARADAY, "run", "--audit", log, ...seal, "--", "cat", secret]);
  const found = readRecords(log).find((record) => record.event === event);
  if (found === undefined) throw new Error(`no record of ${event}`);
  return found;
}

async function requestSomething(log: string): Promise<void> {
  using server = answering(HELLO);
  const url = `http://localhost:${server.port}/`;
  const flags = ["--audit", log, "--allow-domain", "localhost"];
  await place.bare([FARADAY, "run", ...flags, "--", "curl", "-s", "--noproxy", "", url]);
}
