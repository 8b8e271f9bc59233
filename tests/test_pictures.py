"""Pictures: several of them stand on one page."""

from sqlanon.pictures import apart


def test_pictures_are_told_apart_by_names_not_by_texts():
    picture = '<clipPath id="clip0"/><g clip-path="url(#clip0)"/><text>paperclip</text>'
    assert apart(picture, 3) == picture.replace('"clip0', '"picture3clip0').replace(
        "#clip0", "#picture3clip0"
    )
