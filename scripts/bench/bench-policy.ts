/** Rules as people write them: most name a program, some look at arguments, few at places. */
const SHAPES: readonly ((n: number) => string)[] = [
  (n) => `exe_basename = "tool-${n}"`,
  (n) => `exe_basename = ["tool-${n}", "other-${n}"]\nargv_regex = '(^| )--force-${n}( |$)'`,
  (n) => `exe = "/opt/vendor/bin/tool-${n}"`,
  (n) => `exe_glob = "/opt/vendor-${n}/**/bin/*"`,
  (n) => `argv_regex = '^tool (push|reset --hard) origin-${n}( |$)'`,
  (n) => `argv_contains = "secret-${n}"`,
  (n) => `exe_basename = "fetch"\nargv_host_any = ["*.example-${n}.com"]`,
  (n) => `cwd_glob = "/srv/project-${n}/**"\nexe_basename = "deploy"`,
];

/** A policy of so many rules. Only the last allows, so a verdict has all of them to look at. */
export function benchPolicy(ruleCount: number, programs: readonly string[]): string {
  const rules = Array.from({ length: ruleCount - 1 }, (_, n) => {
    const shape = SHAPES[n % SHAPES.length];
    return `[[rule]]\nid = "rule-${n}"\naction = "deny"\n${shape?.(n) ?? ""}\n`;
  });
  const last = `[[rule]]\nid = "allow"\naction = "allow"\nexe = ${JSON.stringify(programs)}\n`;
  return ['[meta]\nversion = 1\ndefault_action = "deny"\n', ...rules, last].join("\n");
}
