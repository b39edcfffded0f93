//! Why a test failed: because something is missing that it was written for, or because what it asserts is not so.
//!
//! Only the first line of an error is looked at. A value that is `None`, `nil` or `undefined` where another was expected
//! is a failed test like any other: the code is there and returned the wrong thing.

/// Whether this error says that a module, a name, a fixture or a parameter does not exist.
pub(super) fn is_load_error(error: &str) -> bool {
    let error = error.trim();
    let Some((kind, message)) = error.split_once(':') else { return is_bare_load_error(error) };
    // `TypeError [Error]`, `java.lang.NoSuchMethodError`, `AssertionError [ERR_ASSERTION]`.
    let kind = kind.split_whitespace().next().unwrap_or_default();
    let kind = kind.rsplit(['.', '\\']).next().unwrap_or_default();
    let message = message.trim();
    match kind {
        "ImportError"
        | "ModuleNotFoundError"
        | "SyntaxError"
        | "IndentationError"
        | "TabError"
        | "LoadError"
        | "ReferenceError"
        | "NoSuchMethodError"
        | "NoSuchFieldError"
        | "NoSuchMethodException"
        | "ClassNotFoundException"
        | "NoClassDefFoundError"
        | "AbstractMethodError"
        | "IncompatibleClassChangeError"
        | "UnsatisfiedLinkError"
        | "ArgumentCountError"
        | "ParseError"
        | "MissingMethodException"
        | "TypeLoadException"
        | "FixtureLookupError" => true,
        "NameError" => !message.contains("nil:NilClass") && !message.ends_with("for nil"),
        "AttributeError" => message.contains("has no attribute") && !message.starts_with("'NoneType'"),
        "NoMethodError" => !message.ends_with("for nil:NilClass") && !message.ends_with("for nil"),
        "ArgumentError" => message.starts_with("wrong number of arguments"),
        "TypeError" => is_wrong_call(message),
        "Error" => is_missing_in_php(message) || is_missing_module(message),
        _ => is_bare_load_error(error),
    }
}

/// A `TypeError` of Python or JavaScript about a name or a parameter that does not exist.
fn is_wrong_call(message: &str) -> bool {
    let python = [
        "required positional argument",
        "required keyword-only argument",
        "got an unexpected keyword argument",
        "got multiple values for argument",
        "takes no arguments",
        "takes no keyword arguments",
    ];
    let counts = message.contains(" positional argument") && message.contains(" given");
    // Values of literals show what the code returned; only names are missing.
    let subject =
        message.strip_suffix(" is not a function").or(message.strip_suffix(" is not a constructor"));
    let is_name = subject.is_some_and(|name| {
        !name.is_empty()
            && !name.starts_with(|first: char| first.is_ascii_digit())
            && name.chars().all(|letter| letter.is_alphanumeric() || "._$#()".contains(letter))
    });
    counts || is_name || python.iter().any(|part| message.contains(part))
}

fn is_missing_in_php(message: &str) -> bool {
    let is_gone = ["Class ", "Interface ", "Trait ", "Enum "].iter().any(|kind| message.starts_with(kind))
        && message.contains("not found");
    is_gone
        || ["Call to undefined function", "Call to undefined method", "Undefined constant"]
            .iter()
            .any(|start| message.starts_with(start))
}

/// What loaders of JavaScript say.
pub(super) fn is_missing_module(message: &str) -> bool {
    [
        "Cannot find module",
        "Cannot find package",
        "Failed to resolve import",
        "Failed to load url",
        "Could not resolve",
    ]
    .iter()
    .any(|start| message.starts_with(start))
        || message.contains("does not provide an export named")
}

/// Errors that have no kind in front of them.
fn is_bare_load_error(error: &str) -> bool {
    let is_fixture = error.starts_with("fixture '") && error.ends_with("' not found");
    is_fixture
        || is_missing_module(error)
        || is_wrong_call(error)
        || error.strip_suffix(" is not defined").is_some_and(|name| !name.contains(char::is_whitespace))
}

#[cfg(test)]
mod tests {
    use super::is_load_error;

    #[track_caller]
    fn check(error: &str, expected: bool) {
        assert_eq!(is_load_error(error), expected, "{error}");
    }

    #[test]
    fn missing_names_are_load_errors() {
        for error in [
            "ModuleNotFoundError: No module named 'shop'",
            "ImportError: cannot import name 'Basket' from 'shop' (/project/shop.py)",
            "NameError: name 'price' is not defined",
            "AttributeError: module 'shop' has no attribute 'add'",
            "AttributeError: 'Basket' object has no attribute 'total'",
            "TypeError: total() missing 1 required positional argument: 'tax'",
            "TypeError: total() takes 1 positional argument but 2 were given",
            "TypeError: total() got an unexpected keyword argument 'tax'",
            "fixture 'client' not found",
            "TypeError: shop.add is not a function",
            "TypeError [Error]: shop.Basket is not a constructor",
            "ReferenceError: price is not defined",
            "price is not defined",
            "Error: Cannot find module './basket' from 'old.test.js'",
            "Cannot find module './basket' from 'old.test.js'",
            "SyntaxError: The requested module './a.js' does not provide an export named 'b'",
            "NameError: uninitialized constant Basket",
            "NoMethodError: undefined method `total' for \"a\":String",
            "ArgumentError: wrong number of arguments (given 0, expected 1)",
            "LoadError: cannot load such file -- /project/lib/gone",
            "Error: Class \"Basket\" not found",
            "Error: Call to undefined function total()",
            "ArgumentCountError: Too few arguments to function total()",
            "java.lang.NoSuchMethodError: shop.Shop.gone()",
            "java.lang.NoClassDefFoundError: shop/Basket",
            "System.MissingMethodException: Method not found",
        ] {
            check(error, true);
        }
    }

    #[test]
    fn wrong_values_are_failed_tests() {
        for error in [
            "AssertionError: assert 4 == 3",
            "assert 4 == 3",
            "AssertionError [ERR_ASSERTION]: 2 == 3",
            "ValueError: bad",
            "AttributeError: 'NoneType' object has no attribute 'total'",
            "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
            "TypeError: Cannot read properties of undefined (reading 'total')",
            "TypeError: undefined is not iterable",
            "NoMethodError: undefined method `total' for nil:NilClass",
            "NoMethodError: undefined method 'total' for nil",
            "RuntimeError: no",
            "Error: no",
            "Failed asserting that 2 is identical to 3.",
            "java.lang.AssertionError: expected:<4> but was:<3>",
            "java.lang.IllegalStateException: no",
            "expect(received).toBe(expected) // Object.is equality",
            "the price is not defined",
            "",
        ] {
            check(error, false);
        }
    }
}
