//! What each language's reader sees.

use super::{Language, check};

#[test]
fn python() {
    check(
        Language::Python,
        "import pytest\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert add(0, 0) == 0\n\n\n\
         class TestMul:\n    def test_two(self):\n        self.assertEqual(mul(2, 2), 4)\n\n    \
         @pytest.mark.parametrize(\"n\", [1, 2, 3])\n    def test_many(self, n):\n        with pytest.raises(ValueError):\n            mul(n)\n",
        &["test_add: 2", "TestMul::test_two: 1", "TestMul::test_many: 1 cases 3"],
    );
    check(
        Language::Python,
        "@pytest.mark.skip(reason=\"later\")\ndef test_a():\n    assert a\n\n@pytest.mark.skipif(x, reason=\"r\")\nasync def test_b():\n    \
         assert b\n\n@unittest.expectedFailure\ndef test_c(): assert c\n\n@pytest.mark.xfail\ndef test_d():\n    pytest.skip(\"no\")\n",
        &["test_a: 1 Skip", "test_b: 1 Skip", "test_c: 1 ExpectedFailure", "test_d: 0 Skip ExpectedFailure"],
    );
    check(
        Language::Python,
        "pytestmark = pytest.mark.skip\n\ndef test_a():\n    assert a\n",
        &["test_a: 1 Skip"],
    );
    check(
        Language::Python,
        "@unittest.skip(\"x\")\nclass TestA(unittest.TestCase):\n    def test_a(self):\n        self.assertTrue(a)\n\nclass TestB:\n    def test_b(self):\n        assert b\n",
        &["TestA::test_a: 1 Skip", "TestB::test_b: 1"],
    );
    check(
        Language::Python,
        "def test_a():\n    \"\"\"assert in words\"\"\"\n    # assert a == b\n    x = 'assert c'\n    assert True\n    assert 1 == 1\n    assert x == x\n    assert False, \"no\"\n",
        &["test_a: 1 trivial 3"],
    );
    check(
        Language::Python,
        "def test_a():\n    \"\"\"Doc.\"\"\"\n    return\n    assert a\n",
        &["test_a: 1 EarlyReturn"],
    );
    check(
        Language::Python,
        "def test_a():\n    try:\n        assert f()\n    except Exception:\n        pass\n",
        &["test_a: 1 Swallowed"],
    );
    check(
        Language::Python,
        "def test_a(\n    client,\n):\n    def inner():\n        assert a\n    inner()\n\n\ndef helper():\n    assert b\n",
        &["test_a: 0"],
    );
    check(
        Language::Python,
        "@pytest.mark.parametrize((\"a\", \"b\"), [\n    (1, 2),\n    pytest.param(3, 4, marks=pytest.mark.xfail),\n])\ndef test_a(a, b):\n    assert a < b\n",
        &["test_a: 1 cases 2"],
    );
}

#[test]
fn javascript() {
    check(
        Language::JavaScript,
        "describe('math', () => {\n  it('adds', () => { expect(add(1, 2)).toBe(3); });\n  it.skip('later', () => { expect(a).toBe(b) });\n  \
         test.each([[1], [2]])('is %d', (n) => { expect(f(n)).toBeTruthy(); expect(g(n)).toBe(1); });\n  xit('x', () => {});\n});\n\
         it.only('alone', async () => { await assert.rejects(f()); });\n",
        &[
            "math > adds: 1",
            "math > later: 1 Skip",
            "math > is %d: 2 cases 2",
            "math > x: 0 Skip",
            "alone: 1 Only",
        ],
    );
    check(
        Language::JavaScript,
        "describe.skip(\"a\", function () {\n  it(\"b\", function () { this.skip(); assert(a); });\n});\n",
        &["a > b: 1 Skip"],
    );
    check(
        Language::JavaScript,
        "it('a', () => {\n  expect(true).toBe(true);\n  expect(1).toEqual(1);\n  expect(a).toBe(a);\n  expect(a).toBe(true);\n  // expect(b)\n  const s = 'expect(c)';\n});\n",
        &["a: 1 trivial 3"],
    );
    check(Language::JavaScript, "if (/it('a', b)/.test('x')) { pattern.test('y') }\n", &[]);
    check(
        Language::JavaScript,
        "test('a', { skip: true }, (t) => { t.equal(a, b); t.test('b', () => { assert.equal(c, d) }) });\n",
        &["a: 1 Skip", "a > b: 1 Skip"],
    );
    check(Language::JavaScript, "it('a', () => { return; expect(b).toBe(c) })\n", &["a: 1 EarlyReturn"]);
    check(Language::JavaScript, "it('a', () => { return expect(b).toBe(c) })\n", &["a: 1"]);
    check(
        Language::JavaScript,
        "it('a', () => { try { expect(b).toBe(c) } catch {} })\n",
        &["a: 1 Swallowed"],
    );
    check(
        Language::JavaScript,
        "it(`is ${n}`, function (done) {\n  request(app).get('/').expect(200).expect('x', done);\n});\n",
        &["is ${n}: 2"],
    );
    check(
        Language::JavaScript,
        "test.fails('a', () => {}); test.todo('b');\n",
        &["a: 0 ExpectedFailure", "b: 0 Skip"],
    );
}

#[test]
fn rust() {
    check(
        Language::Rust,
        "fn helper<'a>(x: &'a str) { assert!(x.is_empty()); }\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert_eq!(add(1, 2), 3);\n        \
         // assert!(no);\n        let s = r#\"assert!(no)\"#;\n    }\n    #[test]\n    #[\u{69}gnore = \"slow\"]\n    fn slow() { assert!(true) }\n    #[tokio::test]\n    \
         #[should_panic(expected = \"x\")]\n    async fn panics() { run(); }\n}\n",
        &["tests::adds: 1", "tests::slow: 0 trivial 1 Skip", "tests::panics: 0 ExpectedFailure"],
    );
    check(
        Language::Rust,
        "rgtest!(f1, |dir: Dir, mut cmd: Cmd| {\n    eqnice!(\"a\", cmd.stdout());\n});\n",
        &["f1: 1"],
    );
    check(Language::Rust, "#[test]\nfn a() { return; }\n", &["a: 0 EarlyReturn"]);
    check(
        Language::Rust,
        "#[test_case(1)]\n#[test_case(2)]\nfn a(n: u8) { assert!(f(n)); }\n",
        &["a: 1 cases 2"],
    );
    check(
        Language::Rust,
        "trait A { fn a(); fn b(); }\n#[test]\nfn c() { assert!(false, \"no\"); }\n",
        &["c: 1"],
    );
}

#[test]
fn go() {
    check(
        Language::Go,
        "package a\n\nfunc TestAdd(t *testing.T) {\n\tif add(1, 2) != 3 {\n\t\tt.Errorf(\"x %d\", 1)\n\t}\n\trequire.Equal(t, 1, f())\n}\n\n\
         func (s *Suite) TestB() {\n\ts.T().Skip(\"later\")\n\tassert.True(s.T(), true)\n}\n\nfunc testing() {}\n\nfunc TestMain(m *testing.M) {}\n\n\
         func TestSkip(t *testing.T) {\n\tif testing.Short() {\n\t\tt.SkipNow()\n\t}\n\tt.Fatal(`t.Fatal`)\n}\n",
        &["TestAdd: 2", "Suite.TestB: 1 Skip", "TestSkip: 1 Skip"],
    );
}

#[test]
fn java_and_kotlin() {
    check(
        Language::Java,
        "class ShopTest {\n  @Test\n  void adds() throws Exception {\n    assertEquals(3, add(1, 2));\n    Assert.assertTrue(x);\n    // assertEquals(1, 1)\n  }\n\n  \
         @Test @Disabled(\"later\")\n  public void later() { assertThat(a).isEqualTo(b); }\n\n  private void helper(int a) { assertTrue(a > 1); }\n\n  \
         @Nested\n  class Inner {\n    @ParameterizedTest\n    @ValueSource(ints = {1})\n    void deep(int n) { assumeTrue(n > 1); fail(\"x\"); }\n  }\n}\n",
        &["ShopTest.adds: 2", "ShopTest.later: 1 Skip", "ShopTest.Inner.deep: 1 Skip"],
    );
    check(
        Language::Java,
        "public class OldTest extends TestCase {\n  public void testA() { assertTrue(true); assertEquals(1, 1); }\n  public void other() {}\n}\n",
        &["OldTest.testA: 0 trivial 2"],
    );
    check(
        Language::Java,
        "class ATest {\n  @Test\n  fun `adds two`() {\n    assertEquals(1, a)\n  }\n}\n",
        &["ATest.adds two: 1"],
    );
}

#[test]
fn ruby() {
    check(
        Language::Ruby,
        "RSpec.describe \"math\" do\n  context \"when small\" do\n    it \"adds\" do\n      expect(add(1, 2)).to eq(3)\n    end\n\n    xit \"later\" do\n      expect(1).to eq(2)\n    end\n  end\n\n  \
         it \"is not written\"\n\n  it(\"is short\") { expect(a).to be_nil }\n\n  it \"is focused\", focus: true do\n    expect(1).to eq(1)\n  end\nend\n",
        &[
            "math when small adds: 1",
            "math when small later: 0 trivial 1 Skip",
            "math is not written: 0 Skip",
            "math is short: 1",
            "math is focused: 0 trivial 1 Only",
        ],
    );
    check(
        Language::Ruby,
        "class ATest < Minitest::Test\n  def test_a\n    assert_equal 3, add(1, 2)\n    refute b\n  end\n\n  def test_b\n    skip \"later\"\n    assert c\n  end\n\n  def helper\n    assert d\n  end\nend\n",
        &["ATest < Minitest : : Test test_a: 2", "ATest < Minitest : : Test test_b: 1 Skip"],
    );
}

#[test]
fn php() {
    check(
        Language::Php,
        "<?php\nfinal class MathTest extends TestCase\n{\n    public function testAdds(): void\n    {\n        $this->assertSame(3, add(1, 2));\n        self::assertTrue(true);\n    }\n\n    \
         #[Test]\n    public function multiplies(): void { $this->markTestSkipped('x'); }\n\n    private function helper() { $this->assertTrue($x); }\n}\n",
        &["MathTest.testAdds: 1 trivial 1", "MathTest.multiplies: 0 Skip"],
    );
    check(
        Language::Php,
        "<?php\nit('adds', function () {\n    expect(add(1, 2))->toBe(3);\n});\n",
        &["adds: 1"],
    );
}

#[test]
fn csharp() {
    check(
        Language::CSharp,
        "public class ShopTests\n{\n    [Fact]\n    public void Adds()\n    {\n        Assert.Equal(3, Add(1, 2));\n        Assert.True(true);\n    }\n\n    [Fact(Skip = \"later\")]\n    public async Task Later() => \
         Assert.True(x);\n\n    [Theory]\n    [InlineData(1)]\n    [InlineData(2)]\n    public void Many(int n) { n.Should().Be(1); }\n}\n",
        &["ShopTests.Adds: 1 trivial 1", "ShopTests.Later: 1 Skip", "ShopTests.Many: 1 cases 2"],
    );
}

#[test]
fn shell() {
    check(
        Language::Shell,
        "setup() {\n  x=1\n}\n\n@test \"adds\" {\n  run add 1 2\n  [ \"$output\" = 3 ]\n  case $x in\n    a) echo;;\n  esac\n}\n\n@test \"later\" {\n  skip \"x\"\n  [ 1 = 2 ]\n}\n",
        &["adds: 1", "later: 1 Skip"],
    );
    check(
        Language::Shell,
        "#!/bin/sh\nset -e\n./prog > out\ndiff out expected\ngrep -q done out || exit 1\n",
        &["the file: 3"],
    );
    check(Language::Shell, "#!/bin/sh\nset +e\ndiff out expected || true\n", &["the file: 1 Swallowed"]);
}

#[test]
fn other_files_are_one_test() {
    check(
        Language::Other,
        "#include \"a.h\"\nTEST(Math, Adds) {\n  EXPECT_EQ(add(1, 2), 3);\n  assert(x); // assert(y)\n  ASSERT_TRUE(true);\n}\n",
        &["the file: 2 trivial 1"],
    );
}
