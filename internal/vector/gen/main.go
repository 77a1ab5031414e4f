// Command gen writes the assembly of package vector: go generate in that package's folder
// runs it. It is a module of its own, so that what it needs is no dependency of tailrace.
package main

import (
	"bytes"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("amd64,!purego")
	marks()
	count()
	escape()
	commas()
	Generate()
}

// repeated is a constant of 32 equal bytes.
func repeated(name string, c byte) reg.VecVirtual { return constant(name, bytes.Repeat([]byte{c}, 32)) }

func constant(name string, b []byte) reg.VecVirtual {
	m := GLOBL(name, RODATA|NOPTR)
	DATA(0, String(b))
	v := YMM()
	VMOVDQU(m, v)
	return v
}

// twice puts a table of 16 bytes into both lanes, since VPSHUFB looks up by lane.
func twice(name string, set map[byte]byte) reg.VecVirtual {
	b := make([]byte, 32)
	for at, v := range set {
		b[at], b[at+16] = v, v
	}
	return constant(name, b)
}

// letters are the characters of the short escapes of control characters, all below 16.
var letters = map[byte]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r'}

// shorts has 0xFF at each of them.
func shorts() map[byte]byte {
	set := map[byte]byte{}
	for c := range letters {
		set[c] = 0xFF
	}
	return set
}

// quoted sets out to 0xFF at each quote and backslash of v.
func quoted(v, quote, slash, out, scratch reg.VecVirtual) {
	VPCMPEQB(v, quote, out)
	VPCMPEQB(v, slash, scratch)
	VPOR(scratch, out, out)
}

// below sets out to 0xFF at each byte of v that is at most the one in limit.
func below(v, limit, out reg.VecVirtual) {
	VPMINUB(v, limit, out)
	VPCMPEQB(v, out, out)
}

// highs returns whether a byte of all had its highest bit.
func highs(all reg.VecVirtual) {
	m := GP32()
	VPMOVMSKB(all, m)
	TESTL(m, m)
	high := GP8()
	SETNE(high)
	Store(high, Return("high"))
	VZEROUPPER()
	RET()
}

// zero returns a register of zeros.
func zero() reg.VecVirtual {
	v := YMM()
	VPXOR(v, v, v)
	return v
}

func marks() {
	TEXT("marksAVX2", NOSPLIT, "func(dst *uint64, src *byte, blocks int) (high bool)")
	Doc("marksAVX2 is Marks of blocks times 64 bytes.")
	Pragma("noescape")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("blocks"), GP64())
	quote, slash, control := repeated("markQuote", '"'), repeated("markSlash", '\\'), repeated("markControl", 0x1F)
	all := zero()
	Label("marksLoop")
	half := func(at int) reg.GPVirtual {
		v, q, s := YMM(), YMM(), YMM()
		VMOVDQU(Mem{Base: src, Disp: at}, v)
		VPOR(v, all, all)
		quoted(v, quote, slash, q, s)
		below(v, control, s)
		VPOR(s, q, q)
		m := GP64()
		VPMOVMSKB(q, m.As32())
		return m
	}
	low, high := half(0), half(32)
	SHLQ(Imm(32), high)
	ORQ(high, low)
	MOVQ(low, Mem{Base: dst})
	ADDQ(Imm(64), src)
	ADDQ(Imm(8), dst)
	DECQ(n)
	JNZ(LabelRef("marksLoop"))
	highs(all)
}

func count() {
	TEXT("countAVX2", NOSPLIT, "func(src *byte, blocks int) (quotes, shorts, controls int, high bool)")
	Doc("countAVX2 is Count of blocks times 32 bytes.")
	Pragma("noescape")
	src, n := Load(Param("src"), GP64()), Load(Param("blocks"), GP64())
	quote, slash, control := repeated("countQuote", '"'), repeated("countSlash", '\\'), repeated("countControl", 0x1F)
	table, nibble := twice("countShort", shorts()), repeated("countNibble", 0x0F)
	all := zero()
	var sums [3]reg.GPVirtual
	for i := range sums {
		sums[i] = GP64()
		XORQ(sums[i], sums[i])
	}
	add := func(v reg.VecVirtual, sum reg.GPVirtual) {
		m := GP64()
		VPMOVMSKB(v, m.As32())
		POPCNTL(m.As32(), m.As32())
		ADDQ(m, sum)
	}
	Label("countLoop")
	v, q, s := YMM(), YMM(), YMM()
	VMOVDQU(Mem{Base: src}, v)
	VPOR(v, all, all)
	quoted(v, quote, slash, q, s)
	add(q, sums[0])
	below(v, control, q)
	m := GP32()
	VPMOVMSKB(q, m)
	TESTL(m, m)
	JZ(LabelRef("countNext"))
	add(q, sums[2])
	below(v, nibble, q)
	VPSHUFB(v, table, s)
	VPAND(s, q, q)
	add(q, sums[1])
	Label("countNext")
	ADDQ(Imm(32), src)
	DECQ(n)
	JNZ(LabelRef("countLoop"))
	for i, name := range []string{"quotes", "shorts", "controls"} {
		Store(sums[i], Return(name))
	}
	highs(all)
}

// escape copies blocks of 32 bytes, with a backslash before each byte that is escaped by
// one. 8 bytes at a time are spread out by a shuffle: the upper half of its source is
// backslashes, and its table has, for each set of bytes to be escaped, their places.
func escape() {
	table := GLOBL("escapeShuffles", RODATA|NOPTR)
	for set := range 256 {
		b := make([]byte, 0, 24)
		for i := range 8 {
			if set>>i&1 == 1 {
				b = append(b, 8)
			}
			b = append(b, byte(i))
		}
		for len(b) < 16 {
			b = append(b, 8)
		}
		DATA(16*set, String(b[:16]))
	}
	TEXT("escapeAVX2", NOSPLIT, "func(dst, src *byte, blocks int) (written, left int, high bool)")
	Doc("escapeAVX2 is Escape of blocks times 32 bytes. left is how many blocks it did not do.")
	Pragma("noescape")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("blocks"), GP64())
	start := GP64()
	MOVQ(dst, start)
	shuffles := GP64()
	LEAQ(table, shuffles)
	quote, slash, control := repeated("escapeQuote", '"'), repeated("escapeSlash", '\\'), repeated("escapeControl", 0x1F)
	isShort, letter := twice("escapeShort", shorts()), twice("escapeLetter", letters)
	nibble := repeated("escapeNibble", 0x0F)
	all := zero()
	v, q, c, s := YMM(), YMM(), YMM(), YMM()
	m, k, size := GP64(), GP64(), GP64()

	Label("escapeLoop")
	VMOVDQU(Mem{Base: src}, v)
	quoted(v, quote, slash, q, s)
	below(v, control, c)
	VPOR(c, q, s)
	VPMOVMSKB(s, m.As32())
	TESTL(m.As32(), m.As32())
	JNZ(LabelRef("escapeSome"))
	VPOR(v, all, all)
	VMOVDQU(v, Mem{Base: dst})
	ADDQ(Imm(32), dst)

	Label("escapeNext")
	ADDQ(Imm(32), src)
	DECQ(n)
	JNZ(LabelRef("escapeLoop"))

	Label("escapeEnd")
	SUBQ(start, dst)
	Store(dst, Return("written"))
	Store(n, Return("left"))
	highs(all)

	Label("escapeSome")
	VPMOVMSKB(c, k.As32())
	TESTL(k.As32(), k.As32())
	JZ(LabelRef("escapeSpread"))
	below(v, nibble, s)
	short := YMM()
	VPSHUFB(v, isShort, short)
	VPAND(short, s, short)
	VPMOVMSKB(short, size.As32())
	CMPL(size.As32(), k.As32())
	JNE(LabelRef("escapeEnd")) // a control character without a short form
	VPSHUFB(v, letter, s)
	VPBLENDVB(short, s, v, v)

	Label("escapeSpread")
	VPOR(v, all, all)
	upper := XMM()
	VEXTRACTI128(Imm(1), v, upper)
	for i := range 4 {
		half := v.AsX()
		if i >= 2 {
			half = upper
		}
		x := XMM()
		if i%2 == 0 {
			VPUNPCKLQDQ(slash.AsX(), half, x)
		} else {
			VPUNPCKHQDQ(slash.AsX(), half, x)
		}
		at := GP64()
		MOVBLZX(m.As8(), at.As32())
		POPCNTL(at.As32(), size.As32())
		SHLQ(Imm(4), at)
		VPSHUFB(Mem{Base: shuffles, Index: at, Scale: 1}, x, x)
		VMOVDQU(x, Mem{Base: dst})
		LEAQ(Mem{Base: dst, Index: size, Scale: 1, Disp: 8}, dst)
		if i < 3 {
			SHRQ(Imm(8), m)
		}
	}
	JMP(LabelRef("escapeNext"))
}

func commas() {
	TEXT("commasAVX2", NOSPLIT, "func(dst, src *byte, blocks int)")
	Doc("commasAVX2 is Commas of blocks times 32 bytes.")
	Pragma("noescape")
	dst, src, n := Load(Param("dst"), GP64()), Load(Param("src"), GP64()), Load(Param("blocks"), GP64())
	lf, comma := repeated("commasLF", '\n'), repeated("commasComma", ',')
	v, m := YMM(), YMM()
	Label("commasLoop")
	VMOVDQU(Mem{Base: src}, v)
	VPCMPEQB(v, lf, m)
	VPBLENDVB(m, comma, v, v)
	VMOVDQU(v, Mem{Base: dst})
	ADDQ(Imm(32), src)
	ADDQ(Imm(32), dst)
	DECQ(n)
	JNZ(LabelRef("commasLoop"))
	VZEROUPPER()
	RET()
}
