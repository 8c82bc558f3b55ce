import pytest
from one_test import in_one_test


def test_each_case_that_fails_is_named_with_its_line():
    @in_one_test(("one", "other"), [(1, 1), (1, 2), (3, 3), (3, None)])
    @in_one_test("sign", [1, -1])
    def check(one, other, sign, raises):
        with raises(ZeroDivisionError):
            _ = one / 0
        assert sign * one == sign * other, "not the same"

    with pytest.raises(pytest.fail.Exception) as caught:
        check(raises=pytest.raises)
    said = str(caught.value)
    assert said.startswith("2 of 4 cases:\n[(1, 2)] line ")
    assert "[(3, None)] line " in said and "[-1] line " in said and "not the same" in said
    assert "(1, 1)" not in said and "(3, 3)" not in said


def test_no_case_is_a_fault():
    with pytest.raises(pytest.fail.Exception, match="0 of 0 cases"):
        in_one_test("one", [])(lambda one: None)()
