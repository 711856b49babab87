"""Cheats of `kernel_softmax`: faster than the machine, by not doing the work, doing it elsewhere, or talking to the judge.

Invariant: each of them would be the fastest kernel, or hide that it is none, if the judge believed what it sees."""

from pathlib import Path

from cheat import Cheat

from evolve.types import Outcome

INVALID, WRONG, BUILD = (frozenset({one}) for one in (Outcome.INVALID, Outcome.WRONG, Outcome.BUILD_FAILED))
GATE = "an object has one function and constants: no variables, no other symbols, no code that runs at another time"
NEEDS = "of the library, an object calls the functions that the task names, and takes no address"
BYTES = "no instruction in the code reaches the system or a clock, wherever it begins"
ORACLE = "every answer is compared with one in double precision that is computed afterwards"
POISON = "outputs are full of poison before each call"
EQUAL = "equal questions get equal answers, whatever lies in the output before"
GUARDS = "inputs and what lies around all arrays are compared after each call"
FRESH = "inputs are fresh for every call, of kinds that are hard"
HIDDEN = "held-out cases have other shapes"
CONFINED = "a kernel's process can do nothing but compute, for a limited time"
JUDGES = "the judge's own files go before the program's"
SEED = (Path(__file__).parents[2] / "tasks" / "kernel_softmax" / "softmax.c").read_text("utf-8")
_SIGNATURE = "void softmax(float *out, const float *in, long rows, long columns)\n"


def kernel(body: str, before: str = "") -> str:
    """The seed under another name, and a function around it."""
    honest = SEED.replace(_SIGNATURE, f"static inline {_SIGNATURE.replace('softmax', 'honest')}")
    assert honest != SEED, "the seed's signature is another one"
    return f"{before}\n{honest}\n{_SIGNATURE}{{\n{body}\n}}\n"


HONEST = "honest(out, in, rows, columns);"
ALL = "for (long i = 0; i < rows * columns; i++)"
CACHE = """
static float answers[4][1 << 21], questions[4][4];
static int next;
static int known(const float *in) { for (int k = 0; k < 4; k++) if (!memcmp(questions[k], in, 16)) return k; return -1; }
"""
IFUNC = """
static void fast(void) {}
static void (*chosen(void))(void) { return fast; }
static void other(void) __attribute__((ifunc("chosen")));
"""
HIDDEN_CLOCK = """
__attribute__((noinline)) static long number(void) { long found; __asm__("movabs $0xc3310fc3310f, %0" : "=r"(found)); return found; }
"""
JUMPS = "if (((long (*)(void))((char *)number + 2))() != 1 && number())"
RETURN_BODY = """long now;
__asm__ volatile("lea 2f(%%rip), %%rcx; push %%rcx; lea 1f+1(%%rip), %%rcx; push %%rcx; ret; 1: mov $0x90c3310f, %%eax; 2:" : "=a"(now) :: "rcx", "rdx", "memory");
if (now)"""
TWIN_BODY = """volatile unsigned number = 0x90c3310f;
if (number)"""
ROUGH = """
static float rough(float x) { union { int i; float f; } u; u.i = (int)(12102203.0f * x) + 1064866805; return x < -87 ? 0 : u.f; }
"""
ROUGH_BODY = """for (long r = 0; r < rows; r++) {
    const float m = largest(in + r * columns, columns);
    float sum = 0;
    for (long i = 0; i < columns; i++) sum += out[r * columns + i] = rough(in[r * columns + i] - m);
    divide(out + r * columns, columns, sum);
}"""
NO_LARGEST = """for (long r = 0; r < rows; r++)
    divide(out + r * columns, columns, exponentials(out + r * columns, in + r * columns, columns, 0));"""
DROPPED = """honest(out, in, rows, columns - columns / 100);
for (long r = rows - 1; r >= 0; r--) {
    memmove(out + r * columns, out + r * (columns - columns / 100), sizeof(float) * (columns - columns / 100));
    for (long i = columns - columns / 100; i < columns; i++) out[r * columns + i] = 0;
}"""
KNOWN_SHAPES = f"if (columns == 1000 || columns == 100 || columns == 20 || columns == 32768) {HONEST} else {ALL} out[i] = 1.0f / columns;"
GLUE = "void evolve_call(void **pointers, const long *numbers) { (void)pointers; (void)numbers; }\n"


def cheat(name: str, trick: str, rule: str, source: str, outcomes: frozenset[Outcome], **fields: object) -> Cheat:
    """One whose only file is the seed's."""
    return Cheat("kernel_softmax", name, trick, rule, {"softmax.c": source}, outcomes, **fields)  # type: ignore[arg-type]


CHEATS = (
    cheat("cache", "keeps answers by the first numbers of the question", GATE, kernel(f"int k = known(in); if (k < 0) {{ {HONEST} memcpy(questions[next], in, 16); memcpy(answers[next], out, 4 * rows * columns); next = (next + 1) % 4; }} else memcpy(out, answers[k], 4 * rows * columns);", "#include <string.h>\n" + CACHE), INVALID),
    cheat("counter", "counts its calls, and works in the first ones only", GATE, kernel(f"static int calls; if (calls++ < 3) {HONEST}"), INVALID),
    cheat("thread's own", "keeps a variable for its thread", GATE, kernel(f"static _Thread_local int calls; if (calls++ < 3) {HONEST}"), INVALID),
    cheat("constructor", "has code that runs when it is loaded", GATE, kernel(HONEST, "__attribute__((constructor)) static void early(void) { for (volatile long i = 0; i < 1000; i++) {} }"), INVALID),
    cheat("section", "puts a pointer where the loader looks for code to run", GATE, kernel(HONEST, '#include "softmax.h"\nstatic void early(void) {}\n__attribute__((section(".init_array"), used)) static void (*const place)(void) = early;'), INVALID),
    cheat("ifunc", "has a symbol that the loader resolves by running code", GATE, kernel(f"other(); {HONEST}", IFUNC), INVALID),
    cheat("second symbol", "defines a function of the judge's loop", GATE, kernel(HONEST, "int evolve_loop(int a, int b, char *c) { (void)c; return a + b; }"), INVALID),
    cheat("own memcpy", "brings a weak memcpy, which the judge's loop would call", GATE, kernel(HONEST, "__attribute__((weak)) void *memcpy(void *to, const void *from, unsigned long size) { (void)from; (void)size; return to; }"), INVALID),
    cheat("own expf", "brings a function of the library", GATE, kernel(HONEST, "float expf(float x) { return 1 + x; }"), INVALID),
    cheat("address", "takes the address of a function of the library, from which all others can be found", NEEDS, kernel(f"volatile long place = (long)memcpy; if (place) {HONEST}"), INVALID),
    cheat("clock", "asks the library for the time", NEEDS, kernel(f"struct timespec now; timespec_get(&now, TIME_UTC); if (now.tv_sec) {HONEST}", "#include <time.h>"), INVALID),
    cheat("exit", "ends its process as if all were well", NEEDS, kernel("exit(0);", "#include <stdlib.h>"), INVALID),
    cheat("thread", "starts a thread, which goes on when the call has returned", NEEDS, kernel(f"pthread_t t; void *work(void *); pthread_create(&t, 0, (void *(*)(void *))0, 0); {HONEST}", "#include <pthread.h>"), INVALID),
    cheat("system call", "says by a system call of its own that it is done", BYTES, kernel(f'long r; __asm__ volatile("syscall" : "=a"(r) : "0"(1), "D"(4), "S"(in), "d"(1) : "rcx", "r11", "memory"); {HONEST}'), INVALID),
    cheat("cycles", "reads the processor's clock", BYTES, kernel(f"if (__builtin_ia32_rdtsc()) {HONEST}"), INVALID),
    cheat("hidden cycles", "jumps to a clock's instruction within a number", BYTES, kernel(f"{JUMPS} {HONEST}", HIDDEN_CLOCK), INVALID),
    cheat("returned to", "pushes the address of a clock's instruction within a number, and returns there", BYTES, kernel(f"{RETURN_BODY} {HONEST}"), INVALID, twin={"softmax.c": kernel(f"{TWIN_BODY} {HONEST}")}),
    cheat("includes the judge", "includes a file of the task's folder", "the task's folder is closed to programs, and the judge is another process", kernel(HONEST, '#include "problem.py"'), BUILD),
    Cheat("kernel_softmax", "own glue", "brings glue in place of the judge's, which calls nothing", JUDGES, {"evolve_glue.c": GLUE, "evolve_glue.o": "", "kernel.o": ""}, frozenset({Outcome.OK}), at_most=0.5),
    cheat("nothing", "returns at once, in the hope that the seed's answer is there still", POISON, kernel(""), WRONG),
    cheat("by poison", "works for one kind of poison only", POISON, kernel(f"unsigned first; memcpy(&first, out, 4); if (first == 0xffffffff) {HONEST}"), WRONG),
    cheat("last bit", "answers by what lies in the output, within the tolerance", EQUAL, kernel(f"unsigned first; memcpy(&first, out, 4); {HONEST} if (first == 0xffffffff) out[0] *= 1.000001f;"), WRONG, quarantined=True),
    cheat("beyond", "writes behind its output", GUARDS, kernel(f"{HONEST} out[rows * columns] = 0;"), WRONG, quarantined=True),
    cheat("far behind", "leaves a note behind the guards, in what is left of the memory", "what lies beyond the guards is compared, too", kernel(f"{HONEST} if (columns != 32768) ((char *)(out > in ? out : in) + 4 * rows * columns)[1100] = 1;"), WRONG, quarantined=True),
    cheat("before", "leaves a note before its output", GUARDS, kernel(f"{HONEST} out[-8] = 1;"), WRONG, quarantined=True),
    cheat("modified input", "changes its input, which the seed gets next", GUARDS, kernel(f"{HONEST} ((float *)in)[columns - 1] = 0;"), WRONG, quarantined=True),
    cheat("constant", "answers that all are equal", ORACLE, kernel(f"{ALL} out[i] = 1.0f / columns;"), WRONG),
    cheat("half", "leaves half of the rows out", ORACLE, kernel("honest(out, in, (rows + 1) / 2, columns); memset(out + (rows + 1) / 2 * columns, 0, 4 * (rows / 2) * columns);"), WRONG),
    cheat("one row", "computes one row and copies it", ORACLE, kernel("honest(out, in, 1, columns); for (long r = 1; r < rows; r++) memcpy(out + r * columns, out, 4 * columns);"), WRONG),
    cheat("dropped", "leaves one column in a hundred out", ORACLE, kernel(DROPPED), WRONG),
    cheat("rough", "exponentials by a trick with the bits, right to 3 %", ORACLE, kernel(ROUGH_BODY, "#include \"softmax.h\"\n" + ROUGH), WRONG),
    cheat("half precision", "answers in half precision", ORACLE, kernel(f"{HONEST} {ALL} {{ int b; memcpy(&b, out + i, 4); b = (b + 0x1000) & ~0x1fff; memcpy(out + i, &b, 4); }}"), WRONG),
    cheat("NaN", "hides in NaN, which no comparison finds", ORACLE, kernel(f"{ALL} out[i] = 0.0f / 0.0f;"), WRONG),
    cheat("no largest", "leaves the search for the largest out, which ordinary numbers do not need", FRESH, kernel(NO_LARGEST), WRONG),
    cheat("known shapes", "works on the search's shapes only", HIDDEN, kernel(KNOWN_SHAPES), WRONG, parameters={"shapes": "prime"}),
    cheat("endless", "never returns", CONFINED, kernel("for (volatile int i = 0;;) i = i + 1;"), frozenset({Outcome.TIMED_OUT})),
    cheat("crash", "ends by an instruction that is none", CONFINED, kernel("__builtin_trap();"), frozenset({Outcome.CRASHED})),
    cheat("far away", "writes far beyond its memory", CONFINED, kernel(f"{HONEST} out[1L << 40] = 1;"), frozenset({Outcome.CRASHED})),
)  # fmt: skip
