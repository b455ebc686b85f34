//! java.util.Properties, as Nutch wrote them: not by Java's serialization, but their number and then names and
//! values as UTF8. In the order of the file, which is that of a hash table.

use super::super::input::put_count;
use super::super::utf8::put_utf8;
use super::super::{Input, Malformed, Unwritable};

/// Names and values.
pub type Properties = Vec<(String, String)>;

pub(super) fn read(input: &mut Input<'_>) -> Result<Properties, Malformed> {
    let n = input.count("metadata", 4)?;
    (0..n).map(|_| Ok((input.utf8("name of metadata")?, input.utf8("value of metadata")?))).collect()
}

pub(super) fn put(out: &mut Vec<u8>, properties: &Properties) -> Result<(), Unwritable> {
    put_count(out, "metadata", properties.len())?;
    for (name, value) in properties {
        put_utf8(out, "name of metadata", name)?;
        put_utf8(out, "value of metadata", value)?;
    }
    Ok(())
}
