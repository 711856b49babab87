"""Facts about what an object may hold that is linked and timed."""

import shutil
import struct
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_problems import KERNEL, compiled, needs_compiler

from evolve_kernel import elf, gate

pytestmark = pytest.mark.integration

X86 = "x86_64"
CALL = "void doubled(float *out, const float *given, double *room, long count)\n{\n%s\n    for (long i = 0; i < count; i++) out[i] = 2 * given[i];\n}\n"


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    """An object that has nothing wrong with it."""
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    return compiled(tmp_path_factory.mktemp("honest"), KERNEL)


def refused(content, allowed=(), **options):
    """What is said of an object."""
    with pytest.raises(gate.Forbidden) as caught:
        gate.check_object(content, "doubled", allowed, **options)
    return str(caught.value)


def test_an_honest_object_passes(honest):
    """With the size of its code."""
    found = gate.check_object(honest, "doubled", ())
    assert 50 < found.size < 10_000
    read = elf.read(honest)
    assert [one.name for one in read.symbols if one.binding == elf.GLOBAL] == ["doubled"]


def test_a_large_one_does_not(honest):
    """The task says how large one may be."""
    assert "and 10 are allowed" in refused(honest, most=10)


@needs_compiler
@pytest.mark.parametrize(
    ("before", "body", "said"),
    [
        ("static int calls;", "calls++; if (calls > 3) return;", "variables that live longer than a call"),
        ("static int calls = 7;", "calls++; if (calls > 9) return;", "variables that live longer than a call"),
        ("static _Thread_local int calls;", "calls++; if (calls > 3) return;", "variables of its own for each thread"),
        ("__attribute__((constructor)) static void early(void) { __asm__(\"nop\"); }", "", "runs when it is loaded"),
        ("__attribute__((destructor)) static void late(void) { __asm__(\"nop\"); }", "", "runs when it is loaded"),
        ("int other(int a) { return a; }", "", "a second symbol that others see, 'other'"),
        ("__attribute__((weak)) int other(int a) { return a; }", "", "a second symbol that others see, 'other'"),
        ("__attribute__((visibility(\"hidden\"))) int other(int a) { return a; }", "", "a second symbol"),
        ("double sin(double);", "room[0] = sin(room[0]);", "it needs 'sin', and of the library it may call memcpy"),
        ("void *memcpy(void *, const void *, unsigned long);", "*(void **)room = memcpy;", "memcpy|GLOBAL_OFFSET"),
        ("__attribute__((section(\".mine\"))) static const int mine[4] = {1, 2};", "room[0] = mine[count];", "a section '.mine'"),
        ("__asm__(\".section .text.more,\\\"awx\\\"\\n.byte 0\\n.text\");", "", "variables that live longer"),
        ("__asm__(\".section .note.GNU-stack,\\\"x\\\"\\n.text\");", "", "could be executed"),
    ],
)  # fmt: skip
def test_what_no_kernel_needs_is_refused(tmp_path, before, body, said):
    """By what it is, in words."""
    with pytest.raises(gate.Forbidden, match=said):
        gate.check_object(compiled(tmp_path, f"{before}\n{CALL % body}", "-w"), "doubled", ())


@needs_compiler
def test_an_object_without_the_function_is_refused(tmp_path):
    """Or with a variable of its name."""
    assert "does not define the function 'doubled'" in refused(compiled(tmp_path, "static const int nothing = 3;\n"))
    assert "does not define the function 'doubled'" in refused(compiled(tmp_path, "const int doubled = 3;\n"))
    misspelt = refused(compiled(tmp_path, "int dubled(int a) { return a; }\nint more(int a) { return a; }\n"))
    said = "it does not define the function 'doubled', but 'dubled, more'. Try: name it 'doubled', and make all others static"
    assert misspelt == said


@needs_compiler
def test_functions_that_the_task_names_may_be_called(tmp_path):
    """And those that a compiler calls of its own accord."""
    source = "double sin(double);\nvoid *memcpy(void *, const void *, unsigned long);\n"
    body = CALL % "room[0] = sin(room[0]); memcpy(out, given, 4 * count);"
    assert gate.check_object(compiled(tmp_path, source + body), "doubled", ("sin",)).size > 0


@needs_compiler
@pytest.mark.skipif(shutil.which("c++") is None, reason="there is no C++ compiler")
def test_cpp_may_leave_copies_of_templates(tmp_path):
    """Which others see, under names that nothing else has; C may not."""
    source = (
        '#include "doubled.h"\ntemplate <class T> __attribute__((noinline)) T twice(T value) { return value + value; }\n'
        "void doubled(float *out, const float *given, double *, long count) { for (long i = 0; i < count; i++) out[i] = twice(given[i]); }\n"
    )
    content = compiled(tmp_path, source, language="c++")
    assert gate.check_object(content, "doubled", (), mangled=True).size > 0
    assert "a second symbol that others see, '_Z" in refused(content)


def listing(tmp_path, source):
    """As the back end has it made."""
    content = compiled(tmp_path, source, "-w", "-save-temps=obj")
    command = ["objdump", "-d", "--no-show-raw-insn", "program.o"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    return gate.check_object(content, "doubled", ()).suspects, said, (tmp_path / "program.s").read_text()


@needs_compiler
@pytest.mark.skipif(shutil.which("objdump") is None, reason="there is no objdump")
@pytest.mark.parametrize(
    ("body", "suspects", "said"),
    [
        ('__asm__ volatile("syscall" ::: "rcx", "r11");', ("syscall",), "the instruction syscall"),
        ("room[0] = __builtin_ia32_rdtsc();", ("rdtsc",), "the instruction rdtsc"),
        ('__asm__ volatile("int $0x80");', ("int",), "the instruction int"),
        ("*(volatile int *)room = 0x050f;", ("syscall",), ""),
        ('__asm__ volatile("movl $0x050f, %%eax" ::: "eax");', ("syscall",), "and inline assembler, which can return to there"),
        ('__asm__ volatile("movl $0x90c3310f, %%eax; leaq 1f(%%rip), %%rcx; push %%rcx; leaq doubled(%%rip), %%rcx; push %%rcx; ret; 1:" ::: "rax", "rcx");', ("rdtsc",), "and inline assembler"),
        ('void *place; __asm__ volatile("movl $0x050f, %%eax; leaq doubled(%%rip), %0; jmp *%0" : "=r"(place) :: "eax");', ("syscall",), "a jump to a computed place"),
        ('__asm__ volatile("jmp 1f + 1\\n1: movl $0x050f, %%eax" ::: "eax");', ("syscall",), "into the middle of an instruction"),
    ],
)  # fmt: skip
def test_bytes_of_an_instruction_count_where_it_can_be_reached(tmp_path, body, suspects, said):
    """Within a number they are harmless, unless something jumps there."""
    compiler = pytest.importorskip("evolve_kernel.compiled").compiler("c")
    if not compiler.x86:
        pytest.skip("these are instructions of x86")
    found, listed, assembler = listing(tmp_path, CALL % body)
    assert found == suspects
    if said:
        with pytest.raises(gate.Forbidden, match=said):
            gate.check_listing(listed, assembler)
    else:
        gate.check_listing(listed, assembler)


def test_a_listing_of_nothing_is_no_proof():
    """Such as that of a tool that failed."""
    with pytest.raises(gate.Forbidden):
        gate.check_listing("", "")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"\x7fELF\x02\x01\x01" + bytes(57), bytes(1000)])
def test_what_is_no_object_is_malformed(content):
    """And nothing worse."""
    with pytest.raises(elf.Malformed):
        elf.read(content)
    assert "no object file" in refused(content)


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_a_damaged_object_is_read_or_malformed(honest, data):
    """Whatever its bytes are: no other exception, no endless search."""
    content = bytearray(honest)
    for _ in range(data.draw(st.integers(1, 6))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    content = content[: data.draw(st.integers(0, len(content)))] if data.draw(st.booleans()) else content
    try:
        gate.check_object(bytes(content), "doubled", ())
    except gate.Forbidden:
        pass


@pytest.mark.parametrize("machine", [3, 40, 0])
def test_code_of_another_machine_is_refused(honest, machine):
    """Its instructions are not known here."""
    other = honest[:18] + struct.pack("<H", machine) + honest[20:]
    assert "a machine that this evaluator does not know" in refused(other)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        (0xD4000001, "a call of the system"),
        (0xD53BE040, "a register of the system"),
        (0xD53B4400, ""),
        (0xD65F03C0, ""),
    ],
)
def test_instructions_of_aarch64_are_looked_at_one_by_one(word, said):
    """svc and the counter of time; FPCR may be read, and a function may return."""
    code = struct.pack("<2I", 0xD65F03C0, word)
    assert list(gate._instructions(elf.AARCH64, code)) == ([said] if said else [])


@needs_compiler
def test_an_instruction_that_only_the_linker_makes_is_seen(tmp_path):
    """One section ends with its first byte, another one begins with its second."""
    split = '__asm__(".section .text.a,\\"ax\\",@progbits\\n.byte 0x0f\\n.section .text.b,\\"ax\\",@progbits\\n.byte 0x31\\n.text");'
    assert "rdtsc" in gate.check_object(compiled(tmp_path, f"{split}\n{KERNEL}"), "doubled", ()).suspects


@needs_compiler
def test_a_function_lies_within_its_section(tmp_path):
    """Behind it there may be the judge's own code, when all is linked."""
    behind = '__asm__(".globl doubled\\n.type doubled, @function\\n.set doubled, .text + 0x4000");\nint unused;'
    object_file = compiled(tmp_path, behind.replace("int unused;", "static const int unused = 1;"), "-w")
    assert "does not define the function 'doubled'" in refused(object_file)
